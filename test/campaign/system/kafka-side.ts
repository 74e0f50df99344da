import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type KafkaCluster, startKafkaCluster } from '../../brokers/clusters.ts'
import { Link } from '../../brokers/link.ts'
import { freePort } from '../../brokers/ready.ts'
import type { Setting } from './scenario.ts'
import { mountSmall } from './small-disk.ts'

/** The processes of the service. */
export const names = ['api-1', 'api-2', 'projector-1', 'projector-2']
/** MiB: the indexes of a few partitions are 10 MiB each, as soon as they are used. */
const kafkaDisk = 400

/** A follower that is behind holds writes up for so long; then it is out of the set. */
export const lagMs = 3000

export interface KafkaSide {
  readonly cluster: KafkaCluster
  /** Where broker 3 has its data, if this machine lets a file system be mounted. */
  readonly smallDisk: string | undefined
  readonly folderOf: (id: number) => string
  readonly linksOf: (name: string) => readonly Link[]
  /** To each broker from the others. */
  readonly among: readonly Link[]
}

/** Each process of the service, and the brokers among themselves, have listeners of their own, behind links. */
export async function startKafka(
  stack: AsyncDisposableStack,
  { folder, canMount }: Pick<Setting, 'folder' | 'canMount'>,
): Promise<KafkaSide> {
  const ports = new Map<string, { port: number; link: Link }>()
  const listeners = [...names, 'broker']
  for (const id of [1, 2, 3]) {
    for (const name of listeners) {
      const port = await freePort()
      ports.set(`${name} ${id}`, { port, link: await linkTo(stack, port) })
    }
  }
  const at = (name: string, id: number) => ports.get(`${name} ${id}`) as { port: number; link: Link }
  const smallDisk = canMount ? join(folder, 'small-disk') : undefined
  if (smallDisk !== undefined) await mountSmall(stack, smallDisk, kafkaDisk)
  const folderOf = (id: number) => join(id === 3 && smallDisk !== undefined ? smallDisk : folder, `kafka-${id}`)
  for (const id of [1, 2, 3]) mkdirSync(folderOf(id))
  const cluster = await startKafkaCluster(
    (port, id) => ({
      listeners: listeners.map((name) => `${listenerOf(name)}://127.0.0.1:${at(name, id).port}`).join(),
      'advertised.listeners': [
        `PLAINTEXT://127.0.0.1:${port}`,
        ...listeners.map((name) => `${listenerOf(name)}://127.0.0.1:${at(name, id).link.port}`),
      ].join(),
      'listener.security.protocol.map': ['PLAINTEXT', 'CONTROLLER', ...listeners.map(listenerOf)]
        .map((name) => `${name}:PLAINTEXT`)
        .join(),
      'inter.broker.listener.name': listenerOf('broker'),
      'replica.lag.time.max.ms': String(lagMs),
    }),
    (id) => ({ folder: folderOf(id) }),
  )
  stack.defer(() => cluster.remove())
  const linksOf = (name: string) => [1, 2, 3].map((id) => at(name, id).link)
  return { cluster, smallDisk, folderOf, linksOf, among: linksOf('broker') }
}

/** `api-1` is API1. */
function listenerOf(name: string): string {
  return name.replace('-', '').toUpperCase()
}

export async function linkTo(stack: AsyncDisposableStack, port: number): Promise<Link> {
  const link = await Link.to(port)
  stack.defer(() => link.close())
  return link
}
