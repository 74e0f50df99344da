import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { resultOf } from '../brokers/program.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { shared } from '../lib/when-done.ts'
import { runHere } from '../store/run-here.ts'
import { Client, createMany } from './client.ts'
import { type Environment, startCommand, startService } from './service.ts'

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
/** Where a stream of the command goes to: to the test, to a full disk, or to somebody who has gone. */
type Target = 'read' | 'full' | 'closed'

const served = shared(async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  await createMany(new Client(await startService(environment)), 300)
  return environment
})

async function run(line: string, output: Target, errors: Target, environment: Environment = served()) {
  const full = openSync('/dev/full', 'w')
  const targets = { read: 'kept', full, closed: 'closed' } as const
  const command = [process.execPath, cli, ...line.split(' ')]
  const program = startCommand(command, environment, { output: targets[output], errors: targets[errors] })
  closeSync(full)
  return await resultOf(program)
}

describe.runIf(process.platform === 'linux')('a command whose output is lost', () => {
  it.each(['keys list', 'events', 'events --json', 'stats --json', '--help'])(
    'says so in one line, and exits with 1: %s',
    async (line) => {
      const told = 'petstore: standard output cannot be written: ENOSPC: no space left on device, write\n'
      expect(await run(line, 'full', 'read')).toEqual({ code: 1, output: '', errors: told })
    },
  )

  it.each(['keys list', 'events', 'stats', '--help'])('ends quietly when nobody reads it: %s', async (line) => {
    expect(await run(line, 'closed', 'read')).toEqual({ code: 0, output: '', errors: '' })
  })

  it.each(['full', 'closed'] as const)('does what it was told: its standard error is %s', async (target) => {
    const { code, output } = await run('rebuild', 'read', target)
    expect([code, output]).toEqual([0, expect.stringMatching(/^Rebuilt: /)])
  })

  it('does what it was told: its standard output is closed', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    expect(await run('keys issue --name somebody', 'closed', 'read', environment)).toMatchObject({ code: 0 })
    expect((await runHere(environment, 'keys list')).output).toContain('somebody')
  })
})
