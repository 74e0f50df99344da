import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What the command prints. Throws what it complains about. */
export async function docker(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('docker', args, { maxBuffer: 2 ** 26 })
  return stdout.trim()
}

/** All that a container wrote. */
export async function logsOf(container: string): Promise<string> {
  const { stdout, stderr } = await run('docker', ['logs', container], { maxBuffer: 2 ** 26 })
  return stdout + stderr
}

const ownImage = process.env.TEST_SERVICE_IMAGE
const nodeImage = process.env.TEST_NODE_IMAGE || 'node:24.21.0-bookworm-slim'

/**
 * What a container of the service is made from: the arguments before the image, the image, and those after. Without an image
 * of the service it is this checkout on Node, with the variables that the image sets.
 */
export function serviceImage(): { readonly options: readonly string[]; readonly image: readonly string[] } {
  if (ownImage) return { options: [], image: [ownImage] }
  const set = ['NODE_ENV=production', 'HOST=0.0.0.0', 'DATA_DIR=/data'].flatMap((each) => ['--env', each])
  const checkout = ['--volume', `${process.cwd()}:/app:ro`, '--workdir', '/app']
  return { options: [...set, ...checkout], image: [nodeImage, 'node', 'src/main.ts'] }
}

/**
 * An empty volume as a claim gives it, with what ext4 puts into it: it belongs to root, and to the group that the pod names for
 * it, if any.
 */
export async function makeVolume(name: string, group: number | undefined): Promise<void> {
  await docker('volume', 'create', name)
  const give = group === undefined ? 'chmod 755 /volume' : `chown 0:${group} /volume && chmod 2775 /volume`
  const prepare = `mkdir -m 700 /volume/lost+found && ${give}`
  const [image = ''] = serviceImage().image
  await docker('run', '--rm', '--user', '0', '--volume', `${name}:/volume`, image, 'sh', '-c', prepare)
}
