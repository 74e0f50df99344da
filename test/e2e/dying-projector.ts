import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../../src/app/config.ts'
import { petStreams } from '../../src/app/petstore.ts'
import { openStorage } from '../../src/app/storage.ts'
import { Projector } from '../../src/projector/projector.ts'
import { Tracker } from '../../src/read-models/tracker.ts'

/*
 * A process with a projector that ends by kill -9 in the middle of one of its first applies: before the script is sent,
 * while it is on its way, or once it has run and nobody knows. Argument: the consumer group.
 */

const [, , group = ''] = process.argv
const logger = pino({ level: 'silent' })
const {
  log,
  stores: [store],
} = await openStorage(readConfig(process.env), logger)

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

const { projection } = store
const apply = projection.apply.bind(projection)
let left = 1 + Math.floor(Math.random() * 5)
projection.apply = async (generation, batch) => {
  left--
  const moment = left === 0 ? Math.floor(Math.random() * 4) : undefined
  if (moment === 0) die()
  const applying = apply(generation, batch)
  if (moment === 1) setImmediate(die)
  if (moment === 2) void delay(Math.random() * 3).then(die)
  const result = await applying
  if (moment === 3) die()
  return result
}

const tracker = new Tracker(store.generations)
await Projector.start({ log, store, tracker, definition: petStreams, group, logger })
