import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { Client } from '../e2e/client.ts'
import { brokerEnvironment, expectVerified, startService } from '../e2e/service.ts'
import { eventually } from '../lib/eventually.ts'
import { whenDone } from '../lib/when-done.ts'

const partitions = [0, 1, 2, 3, 4, 5]
/** The messages, made from the name of the active generation. */
const attacks: Record<string, (generation: string) => readonly string[]> = {
  'a partition that the log lacks': (generation) => [`${generation} 7 3 2`, `${generation} 999 0 5`],
  'positions beyond the end of the log': (generation) =>
    partitions.map((partition) => `${generation} ${partition} 0 999999999999`),
  'positions that no number holds': (generation) => [`${generation} 0 0 9999999999999999`],
  'events without effect': (generation) => [`${generation} 0 0 999999999999 0,1,2,999999999998`],
  'generations that there are not': () => ['forged', 'forged 0 0 1', 'forged 0 0 999999999999'],
  nonsense: (generation) => ['', ' ', `${generation} -1 0 1`, `${generation} 0 1e3 1`, 'x'.repeat(100_000)],
}

describeWithBrokers('a stranger who publishes on the channel of progress', (brokers) => {
  it('stops no API, and makes no answer untrue', async () => {
    const environment = brokerEnvironment(brokers)
    const projector = await startService({ ...environment, ROLE: 'projector' })
    const api = await startService({ ...environment, ROLE: 'api' })
    const client = new Client(api)
    const pet = await client.create('Rex')
    const [channel, generation] = await askRedis(brokers.redisUrl, async (redis) => {
      const [found = ''] = (await redis.pubsub('CHANNELS', `*${environment.REDIS_PREFIX}*`)) as string[]
      return [found, (await redis.hget(found.replace(/:progress$/, ':active'), 'name')) ?? '']
    })
    expect([channel, generation]).not.toContain('')
    const publish = (messages: readonly string[]) =>
      askRedis(brokers.redisUrl, async (redis) => {
        for (const message of messages) expect(await redis.publish(channel, message)).toBe(2)
      })
    const isReadable = async () => {
      const answer = await client.get(pet.id)
      expect(answer.status, answer.text).toBe(200)
      expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
    }
    whenDone(() => process.kill(projector.pid, 'SIGCONT'))

    for (const [what, messagesOf] of Object.entries(attacks)) {
      await publish(messagesOf(generation))
      for (let time = 0; time < 5; time++) await isReadable()

      process.kill(projector.pid, 'SIGSTOP')
      await publish(messagesOf(generation))
      const late = await client.post({ name: what.slice(0, 20), categoryId: 1 })
      expect([late.status, late.headers.get('read-model-applied')], what).toEqual([201, '?0'])
      expect((await client.get((late.body as { id: number }).id)).status, what).toBe(404)
      await publish(messagesOf(generation)) // which may claim now what the log has, and the read models have not
      process.kill(projector.pid, 'SIGCONT')
      await eventually(async () => expect((await client.get((late.body as { id: number }).id)).status).toBe(200))
      await isReadable()
      const soon = await client.post({ name: 'again', categoryId: 1 }, { prefer: 'wait=10' })
      expect([soon.status, soon.headers.get('read-model-applied')], what).toEqual([201, '?1'])
    }
    await expectVerified(environment)
  })
})
