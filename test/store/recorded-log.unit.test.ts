import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { documentsIn } from '../../src/engine/read-models/document.ts'
import { outcomesOf, project } from '../engine/projector/projecting.ts'
import { record } from '../engine/projector/records.ts'
import { petstore } from './petstore.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const published = (name: string) => record(read(`../../docs/events/petstore.${name}.json`).trim(), '42')

/** The pets of a log, as GET /v1/pets shows them. */
async function petsOf(records: readonly ReturnType<typeof record>[]): Promise<string> {
  const { store } = await project(records, [], petstore)
  const { documents } = await store.reads.page('generation', { collection: 'pets', after: 0, limit: 100 })
  return documents
}

describe('a log that was written before', () => {
  it('by release 1.0.0 shows the same pets', async () => {
    const { records, pets } = JSON.parse(read('./recorded/release-1.0.0.json'))
    const log = records.map(([key, value]: [string, string]) => record(value, key))
    expect(`[${await petsOf(log)}]`).toBe(pets)
  })

  it.each([['PetCreated.v1.example'], ['PetCreated.v1.versioned.example']])('%s begins a stream', async (created) => {
    const steps = ['OrderPlaced', 'OrderApproved', 'OrderDelivered'].map((name) => published(`${name}.v1.example`))
    const log = [published(created), ...steps, published('OrderCancelled.v1.example')]
    const isAvailable = created.includes('versioned') // the first example ever published shows a pending pet
    const outcomes = isAvailable ? ['applied', 'applied', 'applied', 'applied', 'superseded'] : ['applied', 'parked']
    expect((await outcomesOf(log, undefined, petstore)).slice(0, outcomes.length)).toEqual(outcomes)
    const [pet] = documentsIn(await petsOf(log))
    expect(pet).toMatchObject({ id: 42, json: expect.stringContaining(isAvailable ? '"sold"' : '"pending"') })
  })
})
