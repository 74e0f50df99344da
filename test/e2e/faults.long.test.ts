import { expect, it } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { runProgramOf } from '../campaign/faults/operators.ts'
import { petstore } from '../campaign/served.ts'
import { cluster, lossy, replica } from '../campaign/system/broker-scenarios.ts'
import { apiKey, embedded } from '../campaign/system/scenario.ts'
import type { Pet } from '../judge/history.ts'
import { HttpClient } from '../lib/http-client.ts'
import { beforeAllStartKafka, describeScenario, eachAlone, type Suffering } from './suffering.ts'

/*
 * Each kind of fault of the campaign alone, in the scenario where it says most. The campaign has several at once.
 */

const processesOf = (kind: string) => [`kill -9 of ${kind}`, `restart of ${kind}`, `${kind} stands still (SIGSTOP)`]
const networkOf = (between: string, ...what: string[]) => what.map((each) => `network ${between} is ${each}`)

describeScenario('embedded', embedded, (suffering) => {
  eachAlone(suffering, [
    ...processesOf('service'),
    'clock of service is hours off',
    'disk of the embedded service is full',
    'disk of the log of service is full',
  ])
})

describeWithLocalBrokers('on Kafka and Redis', () => {
  const kafka = beforeAllStartKafka()

  describeScenario('a Redis with a replica', replica, ofReplica, kafka)
  describeScenario('three shards on a Redis Cluster', cluster, ofCluster, kafka)
  describeScenario('a log that may lose what was acknowledged', lossy, ofLossy, kafka)
})

function ofReplica(suffering: Suffering): void {
  eachAlone(suffering, [
    ...processesOf('api'),
    ...processesOf('projector'),
    'projector stands still for long (SIGSTOP)',
    'clock of api is hours off',
    'clock of projector is hours off',
    'disk of the log of api is full',
    'disk of the log of projector is full',
    ...processesOf('a Kafka broker'),
    'two of three Kafka brokers stand still',
    'leaders move',
    'transactions of other producers',
    'disk of a Kafka broker is full',
    ...networkOf('to Kafka', 'cut', 'silent', 'silent for long', 'silent one way', 'late', 'slow'),
    ...networkOf('among Kafka brokers', 'cut', 'silent', 'slow'),
    ...networkOf('to Redis', 'cut', 'silent', 'silent one way', 'late', 'slow'),
    ...processesOf('Redis'),
    'FLUSHALL',
    'SCRIPT FLUSH',
    'subscribers of Redis are cut off',
    'an older snapshot of Redis',
    'single keys of Redis are removed',
    'eviction of Redis is switched on',
    'a replica of Redis is promoted',
    'a stale replica of Redis is promoted',
    'a stale replica of Redis is promoted while a process is cut off',
    'rolling deploy',
    'an API key is revoked',
  ])

  // Then nothing is applied that would show what is lost.
  it.each(['FLUSHALL', 'kill -9 of Redis', 'an older snapshot of Redis', 'a stale replica of Redis is promoted'])(
    '%s, while nobody writes',
    (kind) => suffering.sufferWhileNobodyWrites(kind),
  )
}

function ofCluster(suffering: Suffering): void {
  const { running, suffer } = suffering

  eachAlone(suffering, [
    'FLUSHALL',
    'a Redis master restarts empty',
    ...networkOf('to Redis masters', 'cut', 'silent', 'silent one way'),
    ...networkOf('among Redis masters', 'cut', 'silent one way'),
  ])

  it('kill -9 of a master: what is on the others is served', async () => {
    const [api = { url: '' }] = running().apis
    const client = new HttpClient(api, apiKey)
    const pets = (await client.request('/v1/pets?limit=100')).body as Pet[]
    await suffer('kill -9 of Redis', async () => {
      const statuses = await Promise.all(pets.map(async ({ id }) => (await client.request(`/v1/pets/${id}`)).status))
      expect(new Set(statuses)).toEqual(new Set([200, 503]))
      expect((await client.request('/v1/pets')).status).toBe(503)
    })
  })

  it('rebuild: of every shard, which the command line tells', async () => {
    async function active(): Promise<string[]> {
      const { output } = await runProgramOf(petstore, running().environment, 'generations', '--json')
      const { generations }: { generations: { name: string; state: string }[] } = JSON.parse(output)
      return generations.filter(({ state }) => state === 'active').map(({ name }) => name)
    }
    const before = await active()
    await suffer('rebuild')
    expect(new Set([...before, ...(await active())]).size).toBe(6)
  })
}

function ofLossy(suffering: Suffering): void {
  eachAlone(suffering, [
    'unclean election: the new leader lacks the last records',
    'the tails of the log are truncated',
    'the last block of ids is forgotten',
    'the topic of the events is made anew',
  ])
}
