import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { MixedLoad } from './mixed-load.ts'
import { expectVerified, petstore } from './petstore.ts'
import { startRoles } from './roles.ts'
import { SeededPets } from './seeded-pets.ts'
import { brokerEnvironment } from './service-process.ts'

const timeout = 420_000

describeWithBrokers('a rebuild of 200,000 pets under a mixed load', (brokers) => {
  it('shows no client an answer that is wrong, lacks a pet, or is older than its token', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const pets = new SeededPets(200_000)
    await pets.append(environment)
    const { apis } = await startRoles(environment)
    const load = new MixedLoad(apis, pets)
    await load.until(100)
    const { code, errors } = await petstore(environment, 'rebuild', '--json')
    await load.until(100)
    const table = await load.stop()
    process.stderr.write(`\n${errors}${table}\n`)
    expect(code, errors).toBe(0)
    expect(table.untrue).toEqual([])
    // A machine without a core to spare may miss the time limits of Redis; taking over is no reason for a 503.
    expect(table.count(/read_model_rebuilding/)).toBe(0)
    await expectVerified(environment)
  })
})
