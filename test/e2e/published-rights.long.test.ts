import kafkajs, { type AclEntry, type Kafka } from 'kafkajs'
import { expect, it, vi } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { askKafka } from '../brokers/ready.ts'
import { recordsOf } from '../brokers/topics.ts'
import { Client, createMany, type Pet } from './client.ts'
import { aclsOf, grant, kafkaAcls, startGuardedBrokers } from './granted.ts'
import { byStream, untilWarned } from './published-topic.ts'
import { petstore, type ServiceProcess, startService, startUnready, untilReady } from './service.ts'

const timeout = 300_000
const published = 'petstore.pets.published'
const documents = [
  'petstore.pets.documents.pets',
  'petstore.pets.documents.orders',
  'petstore.pets.documents.categories',
] as const
const { AclResourceTypes, AclPermissionTypes, AclOperationTypes, ResourcePatternTypes } = kafkajs
const ofPublishing = [published, 'petstore.pets.positions', 'petstore.pets.']
const isOfPublishing = ({ resourceName }: AclEntry) =>
  [...ofPublishing, 'petstore.pets.documents.'].includes(resourceName)

/** Takes all rights of the projector at this name. */
async function take(kafka: Kafka, resourceName: string): Promise<void> {
  const any = { operation: AclOperationTypes.ANY, permissionType: AclPermissionTypes.ALLOW, host: '*' }
  const at = { resourceName, resourceType: AclResourceTypes.ANY, resourcePatternType: ResourcePatternTypes.ANY }
  const filters = [{ ...any, ...at, principal: 'User:petstore-projector' }]
  const taken = await askKafka(kafka, (admin) => admin.deleteAcls({ filters }))
  expect(taken.filterResponses[0]?.matchingAcls.length, resourceName).toBeGreaterThan(0)
}

/** Runs the commands of warnings. */
async function run(kafka: Kafka, messages: string): Promise<void> {
  const commands = messages.replaceAll('User:NAME', 'User:petstore-projector').match(/kafka-acls\.sh .*$/gm) ?? []
  await grant(kafka, commands.flatMap(aclsOf))
}

describeWithLocalBrokers('rights to publish', () => {
  it('that lack are warned of with the ACL, and all else goes on; then it is published', { timeout }, async () => {
    const { asUser, admin } = await startGuardedBrokers()
    await grant(
      admin,
      kafkaAcls.filter((acl) => !isOfPublishing(acl)),
    )
    const service = await startUnready({ ...asUser('api', 'api'), LOG_LEVEL: 'info' })
    const projector = await startService({ ...asUser('projector', 'projector'), LOG_LEVEL: 'info' })
    await untilReady(service)
    const client = new Client(service)
    const pets: Pet[] = []

    /** What was missing before is told until it is looked at again. */
    async function untilWarnedOf(process: ServiceProcess, what: RegExp): Promise<string> {
      return await vi.waitFor(
        async () => {
          const warned = await untilWarned(process, 'published_right_missing')
          expect(warned).toMatch(what)
          return warned
        },
        { timeout: 60_000, interval: 500 },
      )
    }

    /** Writes go on, and what is missing is said; then the command of the warning is run. */
    async function heal(process: ServiceProcess, what: RegExp): Promise<void> {
      pets.push(...(await createMany(client, 10)))
      await run(admin, await untilWarnedOf(process, what))
    }

    async function expectAllTold(): Promise<void> {
      const ids = (told: readonly object[]) => told.map((event) => Reflect.get(event, 'type'))
      await vi.waitFor(
        async () => {
          const told = byStream(await recordsOf(admin, published))
          const wanted = pets.map(({ id }) => [String(id), ['petstore.PetCreated.v1']])
          expect(Object.fromEntries(Object.entries(told).map(([id, events]) => [id, ids(events)]))).toEqual(
            Object.fromEntries(wanted),
          )
          const shown = (await recordsOf(admin, documents[0])).map(({ key }) => String(key))
          expect(new Set(shown)).toEqual(new Set(pets.map(({ id }) => String(id))))
        },
        { timeout: 60_000, interval: 500 },
      )
    }

    const doctor = async () => (await petstore(asUser('projector'), 'doctor')).output
    const createTopic = /--operation Create .*--topic petstore\.pets\.published/
    await heal(projector, createTopic)
    await heal(projector, /--transactional-id petstore\.pets\. /)
    await expectAllTold()
    for (const topics of [published, documents.join(', ')]) {
      await vi.waitFor(async () => expect(await doctor()).toMatch(new RegExp(`^ok +topic ${topics} `, 'm')), {
        timeout: 60_000,
      })
    }

    for (const name of [...ofPublishing, documents[0]]) {
      await take(admin, name)
      const flag = name.endsWith('.') ? '--transactional-id' : '--topic'
      const topics = name === documents[0] ? documents.join(', ') : published
      expect(await doctor()).toMatch(
        new RegExp(`^warning +topic ${topics} +For processes that project: .*${flag} `, 'm'),
      )
      await heal(projector, new RegExp(`${flag} `))
      await expectAllTold()
    }

    const denied: AclEntry = {
      ...{ principal: 'User:petstore-projector', host: '*', resourceName: 'petstore.pets.projector.publish-' },
      ...{ resourceType: AclResourceTypes.GROUP, resourcePatternType: ResourcePatternTypes.PREFIXED },
      ...{ operation: AclOperationTypes.READ, permissionType: AclPermissionTypes.DENY },
    }
    await grant(admin, [denied])
    expect(await doctor()).toMatch(/--group petstore\.pets\.projector\. /)
    await untilWarnedOf(projector, /--group petstore\.pets\.projector\. /)
    pets.push(...(await createMany(client, 10)))
    await expectAllTold() // who has the lanes keeps them
    await askKafka(admin, (each) => each.deleteAcls({ filters: [denied] }))
    await vi.waitFor(
      async () => expect(await fetch(`${projector.url}/metrics`).then((r) => r.text())).not.toContain('right_missing'),
      { timeout: 60_000 },
    )
    pets.push(...(await createMany(client, 10)))
    await expectAllTold()
  })
})
