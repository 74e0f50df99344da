import { readdirSync, readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { cpuTime } from './cpu-time.ts'
import type { Environment } from './service.ts'

/** Microseconds of CPU that brokers have taken so far. */
export interface BrokerCpu {
  kafka(): number
  redis(): Promise<number>
}

/** Kafka has to run on this machine. What others run here is not counted: it is found by its port. */
export function watchBrokers(stack: AsyncDisposableStack, environment: Environment): BrokerCpu {
  const { KAFKA_BROKERS = '', REDIS_URL = '' } = environment
  const pids = KAFKA_BROKERS.split(',').map(pidOfKafka)
  const redis = new Redis(REDIS_URL)
  stack.defer(() => redis.disconnect())
  return {
    kafka: () => pids.reduce((sum, pid) => sum + cpuTime(pid), 0),
    redis: async () => cpuOf(await redis.info('cpu')),
  }
}

/** Seconds of the server's threads; those of its children, which rewrite its file, are lines of their own. */
function cpuOf(info: string): number {
  const lines = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)]
  return lines.reduce((sum, [, seconds]) => sum + Number(seconds), 0) * 1e6
}

function pidOfKafka(broker: string): number {
  const port = broker.slice(broker.lastIndexOf(':'))
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const isIt = (pid: string) =>
    textOf(pid, 'cmdline').includes('kafka.Kafka') && new RegExp(`${port}\\b`).test(textOf(pid, 'environ'))
  const found = pids.find(isIt)
  if (found === undefined)
    throw new Error(`no Kafka with port ${port.slice(1)} runs on this machine: its CPU cannot be read`)
  return Number(found)
}

function textOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return '' // it has ended
  }
}
