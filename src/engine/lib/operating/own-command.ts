import { dirname, resolve } from 'node:path'

type Started = Pick<NodeJS.Process, 'argv' | 'argv0' | 'env'>

/** What runs a command of operators: this program, as it was started itself. So it exists in every service. */
export function ownCommand({ argv, argv0, env }: Started = process): string {
  const [node = '', file = ''] = argv
  const { npm_lifecycle_event: script = '', npm_lifecycle_script: text = '', npm_package_json: manifest = '' } = env
  // npm hands what follows to the end of the script, and its variables down to other programs that the script starts.
  const [program = ''] = text.split(' ').slice(-1)
  const isScript = resolve(dirname(manifest), program) === file && !text.includes('--watch')
  // The shell of whoever reads this finds no Node that a project has installed for itself.
  const found = node.includes('/node_modules/') ? node : argv0
  return isScript ? `npm run --silent ${script} --` : `${quoted(found)} ${quoted(file)}`
}

/** As one word for the shell. */
export function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
