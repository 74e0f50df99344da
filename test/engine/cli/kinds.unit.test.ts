import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openSqliteEventLog } from '../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { runCommands } from '../../lib/run-commands.ts'
import { startHere } from '../../lib/start-here.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { asText, newerEvent, seatAdded } from '../projector/records.ts'
import { hallEvent, twoKinds } from '../two-kinds.ts'

const run = (environment: { readonly DATA_DIR: string }, ...lines: readonly string[]) =>
  runCommands(twoKinds, environment, ...lines)
/** The keys and the outcomes of rows of events. */
const rowsOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.split(/ {2,}/))

/** A folder with seat 7 and hall 7, and events in streams of kinds that this release does not know. */
async function filledFolder() {
  const environment = { DATA_DIR: temporaryFolder() }
  const service = await startHere(twoKinds, environment)
  await service.close()
  const log = openSqliteEventLog({ file: join(environment.DATA_DIR, 'event-log.db') })
  const records = [seatAdded({ id: 7 }), hallEvent('HallBuilt', 7), newerEvent('other/1', 1), newerEvent('other/1', 2)]
  await log.append(0, asText(records))
  await log.close()
  await startHere(twoKinds, environment)
  return environment
}

it('streams and events of a kind are shown by its name', async () => {
  const environment = await filledFolder()
  await vi.waitFor(async () => expect((await run(environment, 'parked list --json')).output).toContain('other/1'))
  const hall = await run(environment, 'streams halls/7')
  expect([hall.code, hall.output]).toEqual([
    0,
    expect.stringMatching(/^hall 7: version 1\n\n[\s\S]*HallBuilt\.v1 +halls\/7/),
  ])
  expect((await run(environment, 'streams 7')).output).toMatch(/^seat 7: version 1\n\n[\s\S]*SeatAdded/)
  const events = await run(environment, 'events --hall 7')
  expect(rowsOf(events.output)).toEqual([expect.arrayContaining(['halls/7', 'applied'])])
  expect(await run(environment, 'events --hall 7 --seat 7')).toMatchObject({
    code: 2,
    errors: expect.stringContaining('--seat and --hall'),
  })
})

it('an event in a stream of a kind that only a later release has is discarded as any other', async () => {
  const environment = await filledFolder()
  const parked = async () => JSON.parse((await run(environment, 'parked list --json')).output)
  await vi.waitFor(async () => expect(await parked()).toHaveLength(2))
  expect(await parked()).toMatchObject([
    { stream: 'other/1', reason: 'streams of this kind are unknown' },
    { stream: 'other/1' },
  ])
  for (const { partition, offset } of await parked()) {
    expect(await run(environment, `parked discard ${partition}/${offset} --yes`)).toMatchObject({ code: 0 })
  }
  expect(await parked()).toEqual([])
  expect((await run(environment, 'verify')).code).toBe(0)
})
