import fc from 'fast-check'
import { expect, it } from 'vitest'
import { documentsTarget } from '../../../src/engine/log/published-log.ts'
import { documentTelling } from '../../../src/engine/publishing/documents.ts'
import { anyDraw, anyStep, journalOf } from './any-journal.ts'
import { openPublishedWorld, type PublishedWorld } from './published-world.ts'

/** What a release shows, and null for each seat that is removed. */
async function shownBy({ projection }: PublishedWorld['releases']['newest']) {
  const { documents, rows } = await projection.read()
  const shown: Record<string, string | null> = {}
  for (const collection of ['seats', 'bookings']) {
    for (const [id, text] of documents[collection] ?? [])
      shown[`${documentsTarget(collection)}/${id}`] = text.split('\0')[0] ?? ''
  }
  for (const [stream, text] of rows) if (/^\d+x/.test(text)) shown[`${documentsTarget('seats')}/${stream}`] = null
  return shown
}

function lastValues(world: PublishedWorld) {
  return Object.fromEntries(Object.entries(world.table()).map(([key, [value]]) => [key, value]))
}

it('tells in the end what the read models show, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyDraw, { maxLength: 50, size: 'max' }),
      fc.array(anyStep, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.array(fc.constantFrom(0, 0, 0, 1, 2, 5), { minLength: 1, maxLength: 30 }),
      async (draws, steps, progress) => {
        let reads = 0
        const all = await journalOf(draws)
        const world = await openPublishedWorld(() => progress[reads++ % progress.length] ?? 0, documentTelling)
        await world.live(all, steps)
        expect(lastValues(world)).toEqual(await shownBy(world.releases.newest))
      },
    ),
    { numRuns: 1000 },
  )
})
