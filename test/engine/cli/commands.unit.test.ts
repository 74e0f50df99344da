import { expect, it } from 'vitest'
import type { Environment } from '../../brokers/program.ts'
import { startHere } from '../../lib/start-here.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { theatre } from '../theatre/theatre.ts'
import { runHere } from './run-here.ts'

const commands = [
  ...['generations', 'rebuild', 'verify', 'stats', 'events', 'streams', 'backup', 'doctor', 'runbook', 'published'],
  ...['parked list', 'parked show', 'parked discard', 'keys issue', 'keys list', 'keys revoke'],
]
const groups = ['keys', 'parked']

it('every command and its options are told', async () => {
  const listed: string[] = []
  for (const group of ['', ...groups]) {
    const { code, output } = await runHere({}, `${group} --help`)
    expect(code).toBe(0)
    listed.push(...[...output.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => `${group} ${name}`.trim()))
    if (group === '') expect(output).toContain('Exit codes: 0 done, 1 ')
  }
  const helps = ['help', 'keys help', 'parked help']
  expect(listed.toSorted()).toEqual([...commands, ...groups, ...helps, 'start', 'paint'].toSorted())
  for (const name of commands) {
    const { code, output } = await runHere({}, `${name} --help`)
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(`Usage: theatre ${name} `) })
    expect(output).toMatch(/^ {2}--json /m)
  }
})

it.each<[line: string, environment: Environment, names: RegExp]>([
  ['', {}, /Usage: theatre/],
  ['parked', {}, /Usage: theatre parked/],
  ['nonsense', {}, /nonsense/],
  ['verify --nonsense', {}, /--nonsense/],
  ['parked show', {}, /partition\/offset/],
  ['keys issue', {}, /--name/],
  ['verify', {}, /no event log in .*DATA_DIR/],
  ['keys list', { PORT: 'eighty' }, /PORT/],
  ['stats', { KAFKA_BROKERS: '127.0.0.1:9092' }, /REDIS_URL/],
  ['events --from 1', {}, /--from 1 is not PARTITION\/OFFSET/],
  ['paint', {}, /say which colour/],
  ['backup folder', { KAFKA_BROKERS: '127.0.0.1:9092', REDIS_URL: 'redis://127.0.0.1' }, /back up the topics/],
])('invalid usage or configuration exits with 2, and the problem is named: %s', async (line, environment, named) => {
  const outcome = await runHere({ DATA_DIR: temporaryFolder(), ...environment }, line)
  expect(outcome).toEqual({ code: 2, output: '', errors: expect.stringMatching(named) })
})

it('a command of the service prints what it tells', async () => {
  const outcome = await runHere({ DATA_DIR: temporaryFolder() }, 'paint red')
  expect(outcome).toEqual({ code: 0, output: 'The seats are red.\n', errors: '' })
})

it('a backup of no event log exits with 2', async () => {
  const folder = temporaryFolder()
  const { code, errors } = await runHere({ DATA_DIR: folder }, `backup ${folder}/backup`)
  expect([code, errors]).toEqual([2, expect.stringMatching(/no event log in .*DATA_DIR/)])
})

it('in embedded mode nothing is published, which is no fault', async () => {
  const DATA_DIR = temporaryFolder()
  await startHere(theatre, { DATA_DIR })
  const { code, output, errors } = await runHere({ DATA_DIR }, 'published')
  expect([code, output, errors]).toEqual([
    0,
    expect.stringMatching(/^Nothing is published: .*GET \/v1\/events\.\n$/),
    '',
  ])
  expect(await runHere({ DATA_DIR }, 'published --json')).toEqual({ code: 0, output: '[]\n', errors: '' })
})
