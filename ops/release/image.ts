import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf, run } from './commands.ts'
import type { Image } from './provenance.ts'

/** Why no image can be built here. */
export function reasonsAgainstImage(root: string): string[] {
  try {
    outputOf(root, ['docker', 'version', '--format', '{{.Server.Version}}'])
    return []
  } catch {
    return ['Docker does not answer: --no-image leaves the image out.']
  }
}

/** `base` is the image with Node; by default the one that the Dockerfile names. */
export function buildImage(
  checkout: string,
  named: { name: string; version: string; commit: string },
  base?: string,
): Image {
  const tag = `${named.name}:${named.version}`
  const labels = { version: named.version, revision: named.commit }
  run(checkout, [
    ...['docker', 'build', '--tag', tag],
    ...(base === undefined ? [] : ['--build-arg', `NODE_IMAGE=${base}`]),
    ...Object.entries(labels).flatMap(([label, value]) => ['--label', `org.opencontainers.image.${label}=${value}`]),
    '.',
  ])
  const id = outputOf(checkout, ['docker', 'image', 'inspect', '--format', '{{.Id}}', tag]).trimEnd()
  return { tag, id, base: base ?? baseOf(readFileSync(join(checkout, 'Dockerfile'), 'utf8')) }
}

function baseOf(dockerfile: string): string {
  const base = /^ARG NODE_IMAGE=(\S+)/m.exec(dockerfile)?.[1]
  if (base === undefined) throw new Error('The Dockerfile names no NODE_IMAGE.')
  return base
}
