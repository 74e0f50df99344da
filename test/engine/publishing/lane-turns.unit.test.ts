import { expect, it } from 'vitest'
import { LaneTurns } from '../../../src/engine/publishing/lane-turns.ts'
import { seatAdded } from '../projector/records.ts'
import { openPublishedWorld } from './published-world.ts'

it('leaves more while it has not come as far as was readable before, however much it has taken', async () => {
  const { journal, log, releases } = await openPublishedWorld()
  const { newest } = releases
  journal.push(...Array.from({ length: 25 }, (_, i) => seatAdded({ id: i + 1 })))
  await newest.catchUp(journal.length)
  const { definition, readModel } = newest
  const options = { definition, log, readModel, teller: newest.newTeller(), steps: 10, heard: new Map([[0, 25]]) }
  const turns = new LaneTurns(options, [0], new Map())
  const found: [told: number, leavesMore: boolean][] = []
  while (turns.areDue) {
    const taken = await turns.take()
    turns.committed(taken)
    for (const { turn, leavesMore } of taken) found.push([turn.records.length, leavesMore])
  }
  expect(found).toEqual([
    [10, true],
    [10, true],
    [5, false],
  ])
})
