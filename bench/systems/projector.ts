/**
 * The projector of the service, from a full log into empty read models, by itself in a process: no API and no health
 * routes. Run in the environment of the service as `node bench/systems/projector.ts LOG STORE GROUP EVENTS`, where LOG is
 * kafka or sqlite and STORE is redis or sqlite. Prints a `Replay`.
 */
import { pino } from 'pino'
import { pets } from '../../projections/pets.ts'
import { readConfig } from '../../src/app/config.ts'
import type { EventLog } from '../../src/event-log/event-log.ts'
import { Projector } from '../../src/projector/projector.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { Stopwatch } from './stopwatch.ts'
import { type LogKind, openLog, openStore, type StoreKind } from './storage.ts'

const [, , logKind, storeKind, group = '', events] = process.argv
const config = readConfig(process.env)
const logger = pino({ level: 'warn' }, process.stderr)
const log = await openLog(logKind as LogKind, config, logger)
const store = await openStore(storeKind as StoreKind, config, logger)
const stopwatch = new Stopwatch(Number(events))
const projector = await Projector.start({ log: timed(log, stopwatch), store, definition: pets, group, logger })
const replay = await stopwatch.ended
const applied = await appliedTo(store)
if (applied !== Number(events)) throw new Error(`of ${events} events ${applied} are applied`)
process.stdout.write(`${JSON.stringify(replay)}\n`)
await projector.close()
await store.close()
await log.close()

function timed(log: EventLog, stopwatch: Stopwatch): EventLog {
  return {
    epoch: log.epoch,
    partitions: log.partitions,
    replaced: log.replaced,
    partitionFor: (key) => log.partitionFor(key),
    append: (partition, records) => log.append(partition, records),
    claimBlock: () => log.claimBlock(),
    ends: () => log.ends(),
    close: () => log.close(),
    subscribe: (group, subscriber) =>
      log.subscribe(group, {
        assigned: (partitions) => subscriber.assigned(partitions),
        batch: async (batch) => {
          stopwatch.begin()
          const done = await subscriber.batch(batch)
          if (done) stopwatch.reached(batch.partition, batch.next)
          return done
        },
      }),
  }
}

async function appliedTo(store: ReadModels): Promise<number> {
  const active = await store.active()
  const checkpoints = active && (await store.checkpoints(active.name))
  return [...(checkpoints?.values() ?? [])].reduce((sum, { applied }) => sum + applied, 0)
}
