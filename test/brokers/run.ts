/**
 * `npm run brokers`: Kafka and Redis as local processes for development, until Ctrl-C.
 * Their data stays in ./data/brokers; KAFKA_PORT and REDIS_PORT choose other ports than 9092 and 6379.
 */
import { resolve } from 'node:path'
import { startKafka, startRedis } from './processes.ts'

const folder = resolve('data/brokers')

const [kafka, redis] = await Promise.all([
  startKafka({}, { port: port('KAFKA_PORT', 9092), folder: resolve(folder, 'kafka') }),
  startRedis(
    { args: ['--appendfsync', 'everysec'] },
    { port: port('REDIS_PORT', 6379), folder: resolve(folder, 'redis') },
  ),
])
process.stdout.write(`export KAFKA_BROKERS=${kafka.brokers}\nexport REDIS_URL=${redis.url}\n`)
process.stderr.write('Kafka and Redis are running. Ctrl-C stops them; their data stays in data/brokers.\n')

// The brokers themselves do not keep this process alive
const running = setInterval(() => {}, 60_000)
let isStopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)

/** Once: npm passes on what the terminal has sent here too. */
async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  await Promise.all([kafka.stop(), redis.stop()])
  clearInterval(running)
}

function port(name: string, usual: number): number {
  const chosen = Number(process.env[name] ?? usual)
  if (Number.isInteger(chosen) && chosen > 0 && chosen < 65_536) return chosen
  throw new Error(`${name}=${process.env[name]} is no port`)
}
