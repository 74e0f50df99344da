import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import type { CommandOptions } from '../../../src/engine/commands/command-handler.ts'
import { createCommandHandler } from '../../../src/engine/commands/execution.ts'
import { IdAllocator } from '../../../src/engine/commands/id-allocator.ts'
import { defineStream, streamKinds } from '../../../src/engine/definition/kinds.ts'
import { Rejected } from '../../../src/engine/door/rejected.ts'
import type { Document, Stream } from '../../../src/engine/door/stream.ts'
import { IdTakenError } from '../../../src/engine/lib/errors/errors.ts'
import { recordValueMax } from '../../../src/engine/log/record-codec.ts'
import type { FoundStream } from '../../../src/engine/read-models/read-model.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { unseenBlocks } from '../commands/unseen-blocks.ts'
import { project, summary } from '../projector/projecting.ts'
import { foreignRecord } from '../projector/records.ts'

interface Happening {
  readonly type: 'Happening'
  readonly text: string
}

interface Thing {
  readonly id: number
  readonly text: string
}

const shown = (id: number, collection = 'things') => ({ collection, id, json: `{"id":${id}}` })

const wellBehaved: Stream<Thing, string, Happening> = {
  collection: 'things',
  source: '/things',
  commands: [],
  initial: { id: 0, text: '' },
  decide: (text) => ({ type: 'Happening', text }),
  evolve: (_, { event: { text } }) => ({ id: 1, text }),
  events: { Happening: { version: 1, description: '', data: Type.Object({ text: Type.String() }), examples: [] } },
  projections: [{ name: 'things', version: 1, documents: ({ id }) => [shown(id)] }],
}

const showing = (...documents: Document[]): Partial<typeof wellBehaved> => ({
  projections: [{ name: 'things', version: 1, documents: () => documents }],
})

const definedAs = (over: Partial<typeof wellBehaved>) =>
  streamKinds([defineStream('made', { ...wellBehaved, ...over })])

/** What becomes of an event of stream 1 whose data is this. */
async function parkedOf(over: Partial<typeof wellBehaved>, data: unknown = { text: 'a' }) {
  const definition = definedAs(over)
  const event = { id: 'e', type: 'made.Happening.v1', source: '/things', subject: '1', streamversion: 1, data }
  return summary(await (await project([foreignRecord(event)], [], definition)).read()).parked
}

/** Handles a command, which begins stream 1 if nothing else is said, with an appender that takes nothing. */
function commandOf(
  over: Partial<typeof wellBehaved>,
  reserveIdBlock = async () => 1,
  { loaded, ...about }: Partial<CommandOptions> & { loaded?: Partial<FoundStream> } = {},
) {
  const definition = definedAs(over)
  const log = { partitions: 1, partitionFor: () => 0, reserveIdBlock, endOffsets: async () => [0] }
  const handler = createCommandHandler({
    ...{ definition, kind: definition.kinds[0] },
    log,
    appender: { gathering: 0, append: () => Promise.reject(new Error('something is appended')) },
    readModel: {
      generationOf: () => 'generation',
      reportDamage: () => {},
      load: async () => {
        if (loaded === undefined) throw new Error('nothing is to be loaded')
        return { ...nothingLoaded, ...loaded }
      },
      whenApplied: async () => 'late',
    },
    ids: new IdAllocator(log, unseenBlocks(log)),
    acknowledged: { follow() {} },
    now: () => new Date(0),
    timeoutMs: 1000,
  })
  return handler.handle(() => 'a', { stream: 'new', owner: 'owner', wait: { timeoutMs: 0 }, ...about })
}

describe('what another program, or an earlier release of a service that goes wrong, has appended is parked, and a command is refused', () => {
  it('unless all is well', async () => {
    expect(await parkedOf({})).toEqual({})
    await expect(commandOf({})).rejects.toThrow('something is appended')
  })

  const fails = () => {
    throw new Error('it fails')
  }
  it.each<[what: string, over: Partial<typeof wellBehaved>, reason: RegExp, data?: unknown]>([
    ['evolve throws', { evolve: fails }, /^it fails$/],
    ['documents throws', { projections: [{ name: 'things', version: 1, documents: fails }] }, /^it fails$/],
    ['the schema refuses the data', {}, /^data: text must be string/, { text: 7 }],
    ['a document is shown twice', showing(shown(1), shown(1)), /^things 1 is shown twice$/],
    ["another stream's document is shown", showing(shown(1), shown(2)), /^things 2 belongs to the stream 2$/],
    [
      'a document does not begin with its id',
      showing({ ...shown(1), json: '{"id":12}' }),
      /does not begin with its id/,
    ],
    ['a document has no id', showing({ ...shown(0), json: '{"id":0}' }), /does not begin with its id/],
    ['a document contains NUL', showing({ ...shown(1), json: '{"id":1,"a":"\0"}' }), /contains NUL/],
    ["another's document is removed", showing({ ...shown(2, 'others'), json: null }), /cannot be removed/],
    ['the state is no JSON', { evolve: () => undefined as never, ...showing() }, /cannot be written as JSON/],
  ])('where %s', async (_, over, reason, data) => {
    expect(await parkedOf(over, data)).toEqual({ 0: expect.stringMatching(reason) })
    const decided = data === undefined ? over : { ...over, decide: () => ({ type: 'Happening', ...data }) as never }
    const cause = expect.objectContaining({ message: expect.stringMatching(reason) })
    await expect(commandOf(decided)).rejects.toMatchObject({ code: 'event_not_applicable', cause })
  })

  it('a command that would have no answer: it shows nothing of what it creates, or of what it is about', async () => {
    const document = { json: '{"id":9}', stream: '1' }
    const row = {
      stream: '1',
      version: 1,
      entries: [],
      document: undefined,
      isRemoved: false,
      hidden: '{"id":1,"text":""}',
    }
    for (const [over, about, missing] of [
      [showing(), {}, 'things 1'],
      [showing(shown(1, 'others')), {}, 'things 1'],
      [showing(shown(1), shown(2, 'others')), { stream: '1', creates: 'others', loaded: {} }, 'others 1'],
      [showing(shown(1)), { stream: { collection: 'others', id: 9 }, loaded: { document, row } }, 'others 9'],
    ] as const) {
      const cause = expect.objectContaining({ message: expect.stringContaining(`leaves no document ${missing}`) })
      await expect(commandOf(over, undefined, about)).rejects.toMatchObject({ code: 'event_not_applicable', cause })
    }
    const others = { stream: '1', creates: 'others', loaded: {} }
    await expect(commandOf(showing(shown(1), shown(1, 'others')), undefined, others)).rejects.toThrow('is appended')
  })

  it.each([
    ['up to what the engine stores', 262_144, true],
    ['up to what the stream allows', 20_000, false],
  ])('a large state, %s', async (_, max, isParked) => {
    const leaving = (length: number) => ({ stateMax: max, evolve: () => ({ id: 1, text: 'x'.repeat(length - 19) }) })
    expect(await parkedOf(leaving(max))).toEqual({})
    await expect(commandOf(leaving(max))).rejects.toThrow('something is appended')
    expect(Object.keys(await parkedOf(leaving(max + 1)))).toHaveLength(isParked ? 1 : 0)
    await expect(commandOf(leaving(max + 1))).rejects.toMatchObject({ code: 'stream_full' })
  })

  it('an event whose record is longer than the projector reads, by one byte too', async () => {
    const deciding = (length: number) => commandOf({ decide: () => ({ type: 'Happening', text: 'x'.repeat(length) }) })
    const tooLarge = await deciding(recordValueMax).catch((error) => error)
    expect(tooLarge).toMatchObject({
      code: 'event_too_large',
      message: expect.stringMatching(/^The event .* has \d+ bytes/),
    })
    const around = Number(/\d+/.exec(tooLarge.message)) - recordValueMax
    await expect(deciding(recordValueMax - around)).rejects.toThrow('something is appended')
    await expect(deciding(recordValueMax - around + 1)).rejects.toMatchObject({ code: 'event_too_large' })
  })

  it('a document that is too large is shown, and no command makes one', async () => {
    const over = showing({ ...shown(1), json: `{"id":1,"text":"${'x'.repeat(262_144)}"}` })
    expect(await parkedOf(over)).toEqual({})
    const cause = expect.objectContaining({ message: expect.stringMatching(/document has more than 262144/) })
    await expect(commandOf(over)).rejects.toMatchObject({ code: 'event_not_applicable', cause })
  })
})

it('where evolve says that each id is taken, a command draws five', async () => {
  const evolve = () => {
    throw new IdTakenError('it is taken')
  }
  let block = 0
  await expect(commandOf({ evolve }, async () => ++block)).rejects.toMatchObject({ code: 'conflict' })
  expect(block).toBeLessThan(8)
})

it('a state without a codec keeps every digit, and what has no place in JSON is refused', async () => {
  const definition = defineStream<unknown, string, Happening>('made', wellBehaved as never)
  for (const state of [{ n: 9007199254740993n, m: [-1, null, 'ü'] }, { n: 2 ** 53 - 1 }, 'text', 0]) {
    const hidden = definition.codec.hidden(state, undefined)
    expect(definition.codec.read({ document: undefined, hidden })).toEqual(state)
  }
  expect(() => definition.codec.hidden(undefined, undefined)).toThrow('cannot be written as JSON')
})

it('a state of which the document has a part is stored once, and any other whole', () => {
  const codec = defineStream<string, string, Happening>('made', {
    ...(wellBehaved as never as Stream<string, string, Happening>),
    initial: '',
    state: { write: (state) => state, read: (text) => text },
  }).codec
  const document = '{"id":1}'
  for (const [state, hidden] of [
    [document, ''],
    [`${document} more`, ' more'],
    ['other', '\u0001other'],
    [`${document}\u0001`, `\u0001${document}\u0001`],
    ['', '\u0001'],
  ] as const) {
    expect(codec.hidden(state, document)).toBe(hidden)
    expect(codec.read({ document, hidden })).toBe(state)
  }
  expect(codec.hidden('', undefined)).toBe('') // the initial state
  expect(codec.read({ document: undefined, hidden: '' })).toBe('')
})

it('where decide throws, nothing is appended', async () => {
  for (const [what, words] of [
    [new Error('it fails'), /^it fails$/],
    [
      new Rejected('too_late', 'It is.'),
      /^decide throws Rejected \{ code: 'too_late', message: 'It is.' \}: return it$/,
    ],
    ['text', /^decide throws text, which is no Error$/],
  ] as const) {
    const decide = () => {
      throw what
    }
    await expect(commandOf({ decide })).rejects.toThrow(words)
  }
})

it('where decide returns what is no event, nothing is appended', async () => {
  for (const decided of [undefined, [undefined], { kind: 'Happening' }])
    await expect(commandOf({ decide: () => decided as never })).rejects.toThrow(
      /^decide returns .*, which is no event$/,
    )
})
