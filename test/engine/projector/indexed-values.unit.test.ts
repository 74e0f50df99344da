import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { indexesOf } from '../../../src/engine/definition/indexes.ts'
import { defineStream, type StreamDefinition, streamKinds } from '../../../src/engine/definition/kinds.ts'
import { project } from './projecting.ts'
import { foreignRecord } from './records.ts'

/** Tells what its document is found by: any JSON. */
interface Said {
  readonly type: 'Said'
  readonly seat: number
  readonly code: unknown
  readonly colour: unknown
}

/** What JSON cannot hold. */
const meant: Readonly<Record<string, unknown>> = { undefined, infinity: Number.POSITIVE_INFINITY, '2^63': 2n ** 63n }

const indexes = indexesOf({
  filters: { code: Type.String(), colour: Type.Enum(['red', 'blue']) },
  together: [['code', 'colour']],
})

const kind: StreamDefinition<Said | undefined, unknown, Said> = defineStream<Said | undefined, unknown, Said>(
  'said',
  {
    collection: 'seats',
    source: '/said',
    initial: undefined,
    commands: [],
    decide: () => 'unchanged',
    evolve: (_, { event }) => event,
    events: {
      Said: {
        version: 1,
        description: 'It was said',
        data: Type.Object({ seat: Type.Integer(), code: Type.Unknown(), colour: Type.Unknown() }),
        examples: [],
      },
    },
    projections: [
      {
        name: 'seats',
        version: 1,
        documents(said) {
          if (said === undefined) return []
          const { seat: id, code, colour } = said
          const filters = { code: meant[String(code)] ?? code, colour } as Record<string, string>
          return [{ collection: 'seats', id, json: `{"id":${id}}`, filters }]
        },
      },
    ],
  },
  { seats: { indexes } },
)

let version = 0
async function foundBy(code: unknown, colour: unknown = 'red') {
  const said = foreignRecord({
    ...{ source: '/said', id: `event ${version++}`, type: 'said.Said.v1', subject: '1', streamversion: 1 },
    data: { seat: 1, code, colour },
  })
  const projection = await project([said], [], streamKinds([kind]))
  const { documents, parked } = await projection.read()
  expect([projection.counts().applied, parked]).toEqual([1, []])
  expect(documents.seats).toHaveLength(1)
  return documents['seats:code=']?.map(([entry]) => entry.slice(0, -16))
}

const longest = 'x'.repeat(128)

it.each([
  ['a text of 129 characters', `${longest}x`],
  ['a text of 129 characters that are two code units each', '\u{1f415}'.repeat(129)],
  ['an empty text', ''],
  ['a text with NUL', 'a\0b'],
  ['a text with half of a pair', 'a\ud800'],
  ['nothing', null],
  ['no integer', 1.5],
  ['an integer beyond int64', '2^63'],
  ['an infinite number', 'infinity'],
  ['a list', ['a']],
])('a document whose value is %s is shown, and in no index', async (_, code) => {
  expect(await foundBy(code)).toBeUndefined()
})

it.each<[unknown, string]>([
  [longest, `128:${longest}red `],
  ['\u{1f415}'.repeat(128), `256:${'\u{1f415}'.repeat(128)}red `],
  ['"', '1:"red '],
  [7, '1:7red '],
])('a document with the value %s is in the index', async (code, expected) => {
  expect(await foundBy(code)).toEqual([expected])
})

it.each([['green'], [''], [null], [7], ['red ']])(
  'a value of the enumeration beside it that is not declared counts as none: %s',
  async (colour) => {
    expect(await foundBy('a', colour)).toEqual(['1:a '])
  },
)
