import type { EventLog, Offset, RecordBatch } from '../../src/event-log/event-log.ts'
import { withMethods } from './world.ts'

/** `log`, whose only partition is read no further than told. */
export function limitedLog(log: EventLog, over: Partial<EventLog> = {}) {
  let limit: Offset = 0
  let raised = Promise.withResolvers<void>()
  const raise = (to: Offset) => {
    limit = to
    raised.resolve()
    raised = Promise.withResolvers()
  }
  const subscribe: EventLog['subscribe'] = async (group, subscriber) => {
    const batch = async ({ from, next, records, partition }: RecordBatch) => {
      while (limit <= from) await raised.promise
      const end = Math.min(limit, next)
      const given = { partition, from, next: end, records: records.filter(({ offset }) => offset < end) }
      return (await subscriber.batch(given)) && end === next
    }
    const subscription = await log.subscribe(group, {
      assigned: (partitions) => subscriber.assigned(partitions),
      batch,
    })
    const close = async () => {
      raise(Number.POSITIVE_INFINITY)
      await subscription.close()
    }
    return { seek: (partition, offset) => subscription.seek(partition, offset), close }
  }
  return { log: withMethods(log, { subscribe, ...over }), raise }
}
