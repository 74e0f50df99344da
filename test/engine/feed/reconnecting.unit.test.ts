import { expect, it } from 'vitest'
import { EventFeed } from '../../../src/engine/feed/event-feed.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { logOf, seatAdded } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'
import { account } from './readers.ts'

const records = logOf([1, 2, 3, 4, 5].map((id) => seatAdded({ id })))

/** A feed of a log that gives one record with each read, all of them applied. */
function openFeed(): EventFeed {
  return new EventFeed({
    definition: theatre,
    log: {
      partitions: 1,
      partitionFor: () => 0,
      endOffsets: async () => [records.length],
      read: async (_, from) => ({ records: records.slice(from, from + 1), next: from + 1 }),
    },
    readModel: {
      load: async () => nothingLoaded,
      whenApplied: async () => 'applied',
      generationOf: () => 'one',
    },
  })
}

it('a follower that breaks off with every step hears each event once', async () => {
  const feed = openFeed()
  const told: string[] = []
  let after: readonly Position[] = []
  while (told.length < records.length) {
    for await (const step of await feed.follow({ after }, account, new AbortController().signal)) {
      after = step.after
      told.push(...step.events.map(({ json }) => json))
      if (step.events.length > 0) break
    }
  }
  expect(told).toEqual(records.map(({ value }) => String(value)))
})
