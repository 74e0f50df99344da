import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany } from './client.ts'
import { buying, Load } from './load.ts'
import { brokerEnvironment, expectVerified, petstoreJson, startService } from './service.ts'

describeWithBrokers('two logs under one prefix', (brokers) => {
  it('have read models of their own, which neither takes nor removes from the other', async () => {
    const [one, other] = [brokerEnvironment(brokers), brokerEnvironment(brokers)].map((environment, _, [first]) => {
      return { ...environment, REDIS_PREFIX: first?.REDIS_PREFIX ?? '', READ_MODEL_GRACE_SECONDS: '5' }
    })
    if (one === undefined || other === undefined) throw new Error('two were made')
    const services = await Promise.all([startService(one), startService(other)])
    const loads = services.map((service) => new Load([service], 4, buying))
    for (const load of loads) await load.until(50)
    for (const [i, load] of loads.entries()) await load.expectTrue([one, other][i] ?? one)
    for (const { output } of services) expect(output()).not.toContain('building read models anew')

    await services[0]?.end('SIGTERM')
    const listed = async () => (await petstoreJson(other, 'generations')).versions.length
    const before = await listed()
    expect(before).toBe(2)
    // A version of its own log that nobody uses goes, so what is left has been spared.
    const old = await startService({ ...other, READ_MODEL_SHARDS: '2' })
    await vi.waitFor(async () => expect(await listed()).toBe(before + 2), { timeout: 30_000 })
    await old.end('SIGTERM')
    await vi.waitFor(async () => expect(await listed()).toBe(before), { timeout: 60_000 })
    const again = new Client(await startService(one))
    await createMany(again, 10)
    await expectVerified(one)
  })
})
