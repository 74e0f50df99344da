import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RedisServer } from '../../brokers/brokers.ts'
import type { RedisCluster } from '../../brokers/clusters.ts'
import type { Link } from '../../brokers/link.ts'
import { askRedis, until, within } from '../../brokers/ready.ts'
import type { Random } from '../../lib/random.ts'
import { brokerFaults } from './broker-faults.ts'
import { type Fault, lasting, type Occasion } from './fault.ts'

const reachEachOtherMs = 30_000
/** Long enough for those that were cut off by the fault before to be there again. */
const subscribeMs = 5000

/** A server with the folder of its data. */
export interface RedisNode extends RedisServer {
  readonly folder: string
}

/** Faults of single servers. `prefix` is that of the keys of the service. */
export function redisFaults(nodes: readonly RedisNode[], prefix: string): Fault[] {
  return [
    ...brokerFaults('Redis', nodes),
    { kind: 'FLUSHALL', inflict: ({ random }) => done(command(random.pick(nodes), 'FLUSHALL')) },
    { kind: 'SCRIPT FLUSH', inflict: ({ random }) => done(command(random.pick(nodes), 'SCRIPT', 'FLUSH')) },
    { kind: 'subscribers of Redis are cut off', inflict: ({ random }) => cutSubscribers(random.pick(nodes)) },
    { kind: 'an older snapshot of Redis', inflict: (occasion) => done(goBack(occasion.random.pick(nodes), occasion)) },
    {
      kind: 'single keys of Redis are removed',
      inflict: ({ random }) => removeKeys(random.pick(nodes), prefix, random),
    },
    lasting('eviction of Redis is switched on', (random) => {
      const node = random.pick(nodes)
      return { wrong: () => evict(node), right: () => keep(node) }
    }),
  ]
}

/** A fault of one master of a cluster. */
export function emptyRestart({ masters, whole }: RedisCluster): Fault {
  return {
    kind: 'a Redis master restarts empty',
    inflict: async ({ random }) => {
      await random.pick(masters).restartEmpty()
      await whole()
      return true
    },
  }
}

async function command({ url }: RedisServer, name: string, ...args: (string | number)[]): Promise<unknown> {
  return await askRedis(url, (redis) => redis.call(name, ...args))
}

async function done(work: Promise<unknown>): Promise<true> {
  await work
  return true
}

/** Resolves to whether there were any. */
function cutSubscribers(node: RedisServer): Promise<boolean> {
  return within(subscribeMs, async () => Number(await command(node, 'CLIENT', 'KILL', 'TYPE', 'pubsub')) > 0)
}

/** What it has now is what it has again later. */
async function goBack(node: RedisNode, { last }: Occasion): Promise<void> {
  const data = join(node.folder, 'appendonlydir')
  const older = join(node.folder, 'older')
  await node.stop()
  if (existsSync(data)) cpSync(data, older, { recursive: true })
  await node.start()
  await last(1000, 4000)
  await node.kill()
  rmSync(data, { recursive: true, force: true })
  if (existsSync(older)) cpSync(older, data, { recursive: true })
  rmSync(older, { recursive: true, force: true })
  await node.start()
}

/** Masters of a cluster refuse it as long as they do not reach each other. Resolves to whether there were any. */
async function removeKeys(node: RedisServer, prefix: string, random: Random): Promise<boolean> {
  let removed = 0
  await until('the cluster takes commands', reachEachOtherMs, async () => {
    try {
      removed = await removeSome(node, prefix, random)
      return true
    } catch (error) {
      if (!(error as Error).message.startsWith('CLUSTERDOWN')) throw error
      return false
    }
  })
  return removed > 0
}

/** Mostly keys of the generation that is served. Resolves to how many. */
function removeSome({ url }: RedisServer, prefix: string, random: Random): Promise<number> {
  return askRedis(url, async (redis) => {
    const keys = (await redis.keys(`*${prefix}*`)).sort()
    const actives = keys.filter((key) => key.endsWith(':active'))
    const names = await Promise.all(actives.map((key) => redis.hget(key, 'name')))
    const served = keys.filter((key) => names.some((name) => name !== null && key.includes(name)))
    const some = served.length > 0 && random.chance(0.8) ? served : keys
    const chosen = random.shuffle(some).slice(0, 1 + random.below(2))
    const removed = await Promise.all(chosen.map((key) => redis.unlink(key)))
    return removed.reduce((sum, each) => sum + Number(each), 0)
  })
}

async function evict(node: RedisServer): Promise<void> {
  await command(node, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random')
  const used = await askRedis(node.url, async (redis) => /used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
  await command(node, 'CONFIG', 'SET', 'maxmemory', Math.floor(Number(used) * 0.97))
}

async function keep(node: RedisServer): Promise<void> {
  await command(node, 'CONFIG', 'SET', 'maxmemory', 0)
  await command(node, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
}

export interface Replicated {
  /** One of them is the master. */
  readonly nodes: readonly [RedisNode, RedisNode]
  /** From the replica to the master. */
  readonly replication: Link
  /** To the master, from each process and the command line. */
  readonly links: readonly Link[]
  /** Those of them from processes of a role. */
  readonly linksOf: (role: 'api' | 'projector') => readonly Link[]
}

/** A master, and how its replica takes over: `promote` while `isStale` without the last writes. */
export class Failover {
  readonly #parts: Replicated
  #master = 0

  constructor(parts: Replicated) {
    this.#parts = parts
  }

  get master(): RedisNode {
    return this.#parts.nodes[this.#master] as RedisNode
  }

  faults(): Fault[] {
    return [
      { kind: 'a replica of Redis is promoted', inflict: () => done(this.#promote()) },
      { kind: 'a stale replica of Redis is promoted', inflict: (occasion) => done(this.#promoteStale(occasion)) },
      {
        kind: 'a stale replica of Redis is promoted while a process is cut off',
        inflict: (occasion) => done(this.#promoteUnheard(occasion)),
      },
    ]
  }

  /** Faults of whichever is the master when they happen. */
  faultsOfMaster(prefix: string): Fault[] {
    return redisFaults([this.master], prefix).map(({ kind }, index) => ({
      kind,
      inflict: async (occasion) => (await redisFaults([this.master], prefix)[index]?.inflict(occasion)) ?? false,
    }))
  }

  async #promoteStale({ last }: Occasion): Promise<void> {
    using _replication = cut([this.#parts.replication])
    await last(500, 2500)
    await this.#promote()
  }

  /**
   * One api hears of nothing that the replica lacks, so only that it was cut off tells it to doubt. It is asked before
   * a projector applies that again.
   */
  async #promoteUnheard({ random, last }: Occasion): Promise<void> {
    const { replication, linksOf } = this.#parts
    using unheard = cut([replication, random.pick(linksOf('api'))])
    await last(500, 2500)
    using _projectors = cut(linksOf('projector'))
    await this.#promote()
    unheard.dispose()
    await last(500, 2500)
  }

  /** The one before becomes its replica. */
  async #promote(): Promise<void> {
    const { replication, links } = this.#parts
    const before = this.master
    this.#master = 1 - this.#master
    await command(this.master, 'REPLICAOF', 'NO', 'ONE')
    const port = Number(new URL(this.master.url).port)
    for (const link of links) link.turnTo(port)
    replication.turnTo(port)
    await command(before, 'REPLICAOF', '127.0.0.1', replication.port)
  }
}

function cut(links: readonly Link[]): DisposableStack {
  const heal = new DisposableStack()
  for (const link of links) {
    link.disturb({ kind: 'cut' })
    heal.defer(() => link.heal())
  }
  return heal
}
