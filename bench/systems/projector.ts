/**
 * The projector of the service, from a full log into empty read models, by itself in a process: no API and no health
 * routes. Run in the environment of the service as `node bench/systems/projector.ts LOG STORE GROUP EVENTS`, where LOG is
 * kafka or sqlite and STORE is redis or sqlite. Prints a `Replay`.
 */
import { pino } from 'pino'
import { readConfig } from '../../src/engine/app/config.ts'
import { prepareProcess } from '../../src/engine/app/storage/storage.ts'
import type { EventLog } from '../../src/engine/log/event-log.ts'
import { Projector } from '../../src/engine/projector/projector.ts'
import type { ReadModelStore } from '../../src/engine/read-models/ports/store.ts'
import { Tracker } from '../../src/engine/read-models/tracker.ts'
import { petstore } from '../../test/store/petstore.ts'
import { Stopwatch } from './stopwatch.ts'
import { type LogKind, openLog, openStore, type StoreKind } from './storage.ts'

const [, , logKind, storeKind, group = '', events] = process.argv
const config = readConfig(petstore, process.env)
await prepareProcess(config)
const logger = pino({ level: 'warn' }, process.stderr)
const log = await openLog(logKind as LogKind, config, logger)
const store = await openStore(storeKind as StoreKind, config, log, logger)
const stopwatch = new Stopwatch(Number(events))
const tracker = new Tracker(store.generations)
timeBatches(log, stopwatch)
const projector = await Projector.start({ log, store, tracker, definition: petstore, group, logger })
const replay = await stopwatch.ended
const applied = await appliedTo(store)
if (applied !== Number(events)) throw new Error(`of ${events} events ${applied} are applied`)
process.stdout.write(`${JSON.stringify(replay)}\n`)
await projector.close()
await tracker.close()
await store.close()
await log.close()

/** From when the first batch is there until all of them are done. */
function timeBatches(log: EventLog, stopwatch: Stopwatch): void {
  const subscribe = log.subscribe.bind(log)
  log.subscribe = (group, subscriber) =>
    subscribe(group, {
      assigned: (partitions) => subscriber.assigned(partitions),
      batch: async (batch) => {
        stopwatch.begin()
        const done = await subscriber.batch(batch)
        if (done) stopwatch.reached(batch.partition, batch.next)
        return done
      },
    })
}

async function appliedTo({ generations }: ReadModelStore): Promise<number> {
  const active = await generations.active()
  const checkpoints = active && (await generations.checkpoints(active.name))
  return [...(checkpoints?.values() ?? [])].reduce((sum, { counts }) => sum + counts.applied, 0)
}
