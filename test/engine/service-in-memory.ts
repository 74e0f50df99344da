import { commandHandlers } from '../../src/engine/commands/execution.ts'
import { IdAllocator } from '../../src/engine/commands/id-allocator.ts'
import type { Definition } from '../../src/engine/definition/definition.ts'
import { EventFeed } from '../../src/engine/feed/event-feed.ts'
import type { NewRecord } from '../../src/engine/log/event-log.ts'
import { defaultLimits, GroupCommit } from '../../src/engine/log/group-commit.ts'
import type { Applied } from '../../src/engine/read-models/read-model.ts'
import { unseenBlocks } from './commands/unseen-blocks.ts'
import { openProjection } from './projector/projecting.ts'
import { record } from './projector/records.ts'

interface Hooks {
  readonly now: () => Date
  /** What is heard of an event, all of which are applied before their append resolves. */
  readonly heard: () => Applied
  readonly appended: (record: NewRecord) => void
}

/** The parts of a service that handle its commands and tell its events, over one partition in memory. */
export async function openInMemory(definition: Definition, { now, heard, appended }: Hooks) {
  const projection = await openProjection(undefined, definition)
  let blocks = 0
  const log = {
    ...projection.log,
    partitions: 1,
    reserveIdBlock: async () => ++blocks,
    async append(_: number, records: readonly NewRecord[]) {
      const [first = 0] = await log.endOffsets()
      await projection.apply(records.map(({ key, value }) => record(value, key)))
      for (const each of records) appended(each)
      return first
    },
  }
  const readModel = { ...projection.readModel, whenApplied: async () => heard(), reportDamage: () => {} }
  const ids = new IdAllocator(log, unseenBlocks(log))
  await ids.refill()
  const appender = new GroupCommit(log, defaultLimits)
  const acknowledged = { follow: () => {} }
  const common = { definition, log, readModel }
  const commands = commandHandlers({ ...common, ids, appender, acknowledged, now, timeoutMs: 5000 })
  return { store: projection.store, readModel, ids, appender, commands, feed: new EventFeed(common) }
}
