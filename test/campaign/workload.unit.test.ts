import type { TSchema } from 'typebox'
import { expect, it } from 'vitest'
import { NewPetSchema, PetChangeSchema } from '../../src/store/pet.ts'
import { Random } from '../lib/random.ts'
import type { Answered, Asked } from './recorder.ts'
import { Workload } from './workload.ts'

/** What is asked of a service that accepts everything. */
function askedFor(turns: number): Asked[] {
  const workload = new Workload(new Random(1))
  const asked: Asked[] = []
  const answerTo = (question: Asked) => {
    asked.push(question)
    const { operation, id = asked.length } = question
    const isCreating = operation === 'createPet' || operation === 'placeOrder'
    const answer = { ...question, status: isCreating ? 201 : 200, body: { id } } as unknown as Answered
    workload.tell(answer)
    return answer
  }
  for (let turn = 0; turn < turns; turn++) {
    const acting = workload.act()
    for (let next = acting.next(); !next.done; ) {
      const { operation } = next.value
      next = acting.next(/^list/.test(operation) ? undefined : answerTo(next.value))
    }
  }
  return asked
}

const asked = askedFor(3000)
const wantedBy = (operation: string) => asked.filter((each) => each.operation === operation).map(({ wanted }) => wanted)

it.each([
  ['createPet', NewPetSchema],
  ['updatePet', PetChangeSchema],
])('sends every member that %s has', (operation, { properties }) => {
  const sent = wantedBy(operation).flatMap((wanted) => Object.keys(wanted ?? {}))
  expect([...new Set(sent)].sort()).toEqual(Object.keys(properties).sort())
})

it('removes from a pet whatever can be removed', () => {
  const canBeNull = (schema: TSchema) => JSON.stringify(schema).includes('["string","null"]')
  const members = Object.entries<TSchema>(PetChangeSchema.properties)
  const removable = members.filter(([, schema]) => canBeNull(schema)).map(([name]) => name)
  const sent = wantedBy('updatePet').flatMap((wanted) => Object.entries(wanted ?? {}))
  const removed = new Set(sent.filter(([, value]) => value === null).map(([name]) => name))
  expect(removable).toContain('description')
  expect([...removed].sort()).toEqual(removable.sort())
})
