import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import { versionsAround } from '../../../src/engine/read-models/stream-history.ts'
import { type EventOutcome, outcomeOf } from '../../../src/engine/rule/outcome.ts'
import { happening, type MadeUp, madeUp, madeUpDiscard } from '../projector/made-up.ts'
import { openProjection } from '../projector/projecting.ts'

/** An event, or the discard of the event at an offset. */
type Entry = MadeUp | { readonly stream: string; readonly discards: number }

/** What becomes of each event of a log, by the published rules, as simply as can be. */
function referenceOutcomes(log: readonly Entry[]): (EventOutcome | undefined)[] {
  const outcomes: (EventOutcome | undefined)[] = log.map(() => undefined)
  const versions = new Map<string, number>()
  const queues = new Map<string, number[]>()
  const keys = new Set<string>()
  const taken = new Set<number>()
  /** The other document that a stream shows. */
  const shown = new Map<string, number>()
  const versionOf = (stream: string) => versions.get(stream) ?? 0
  const count = (stream: string) => versions.set(stream, versionOf(stream) + 1)
  function decide({ stream, version, key, op, n, more = [] }: MadeUp): EventOutcome {
    if (version !== versionOf(stream) + 1) return 'superseded'
    if (key !== undefined && keys.has(key)) return 'duplicate'
    const outcome = happen(stream, [{ op, n }, ...more])
    if (outcome === 'duplicate') return outcome
    if (key !== undefined) keys.add(key)
    if (outcome === 'applied') count(stream)
    return outcome
  }
  /** All at once, or nothing of it. */
  function happen(stream: string, all: readonly Pick<MadeUp, 'op' | 'n'>[]): EventOutcome {
    if (all.some(({ op }) => op === 'fail')) return 'parked'
    const added = new Set<number>()
    let other = shown.get(stream)
    for (const { op, n } of all) {
      if (op !== 'show other' || other === n) continue
      if (taken.has(n) || added.has(n)) return 'duplicate'
      added.add(n)
      other = n
    }
    for (const n of added) taken.add(n)
    if (other !== undefined) shown.set(stream, other)
    return 'applied'
  }
  for (const [offset, entry] of log.entries()) {
    const { stream } = entry
    const queue = queues.get(stream) ?? []
    queues.set(stream, queue)
    if (!('discards' in entry)) {
      outcomes[offset] = queue.length > 0 ? 'parked' : decide(entry)
      if (outcomes[offset] === 'parked') queue.push(offset)
    } else if (queue[0] === entry.discards) {
      outcomes[entry.discards] = 'discarded'
      count(stream)
      queue.shift()
      for (let first = queue[0]; first !== undefined; first = queue[0]) {
        outcomes[first] = decide(log[first] as MadeUp)
        if (outcomes[first] === 'parked') break
        queue.shift()
      }
    }
  }
  return outcomes
}

/** What the read models say became of an event at this offset. */
async function toldOf({ reads }: ReadModelStore, offset: number, { stream, version, key, id }: MadeUp) {
  const read = typeof version === 'number' && Number.isSafeInteger(version) ? version : undefined
  const query = { stream, key: key === undefined ? undefined : { partition: 0, key }, versions: versionsAround(read) }
  const { proof, ...loaded } = await reads.load('generation', query)
  expect(proof.isComplete).toBe(true)
  return outcomeOf({ offset, id, version: read, hasKey: key !== undefined }, loaded)
}

type OneOfMore = MadeUp['op']
const anyEntry = fc.record({
  stream: fc.constantFrom('1', '2', 'a/b'),
  kind: fc.constantFrom(
    ...(['event', 'event', 'event', 'event', 'show other', 'show other'] as const),
    ...(['fail', 'discard the first', 'discard another'] as const),
  ),
  off: fc.oneof(
    { weight: 12, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: fc.constantFrom(-3, -2, -1, 1, 2) },
    { weight: 1, arbitrary: fc.constantFrom('missing', 0.5, -1e3, 2 ** 53 - 1, 2 ** 53, '1') },
  ),
  key: fc.option(fc.constantFrom('k', 'l', 'm', 'n'), { freq: 3, nil: undefined }),
  choice: fc.nat(1000),
  more: fc.oneof(
    { weight: 2, arbitrary: fc.constant<OneOfMore[]>([]) },
    {
      weight: 1,
      arbitrary: fc.array(fc.constantFrom<OneOfMore[]>('change', 'change', 'show other', 'show other', 'fail'), {
        maxLength: 3,
      }),
    },
  ),
})
type AnyEntry = typeof anyEntry extends fc.Arbitrary<infer T> ? T : never

/** Continues a log: most events have the next version as far as that can be known. */
function grown(log: readonly Entry[], draws: readonly AnyEntry[], name: string): Entry[] {
  const all = [...log]
  for (const [i, { stream, kind, off, key, choice, more }] of draws.entries()) {
    const outcomes = referenceOutcomes(all)
    const parked = [...outcomes.keys()].filter((at) => outcomes[at] === 'parked' && all[at]?.stream === stream)
    if (kind.startsWith('discard')) {
      const discards =
        kind === 'discard the first' ? (parked[0] ?? choice % (all.length + 1)) : choice % (all.length + 1)
      all.push({ stream, discards })
      continue
    }
    const isCounted = (at: number) =>
      outcomes[at] === 'applied' || outcomes[at] === 'discarded' || outcomes[at] === 'parked'
    const next = all.filter((entry, at) => entry.stream === stream && isCounted(at)).length + 1
    const version = typeof off === 'number' && Number.isInteger(off) && Math.abs(off) < 10 ? next + off : off
    const op = kind === 'fail' || kind === 'show other' ? kind : 'change'
    all.push({
      stream,
      op,
      n: 1 + (choice % 5),
      id: `${name} ${i}`,
      version: version === 'missing' ? undefined : version,
      key,
      more: more.map((each, at) => ({ op: each, n: 1 + ((choice + at) % 5) })),
    })
  }
  return all
}

/** The first events of a stream, all of which take effect. */
function begun(count: number): Entry[] {
  return Array.from({ length: count }, (_, i) => ({
    stream: '1',
    op: 'change',
    n: 0,
    id: `first ${i}`,
    version: i + 1,
  }))
}

async function projected(log: readonly Entry[], cuts: readonly number[]): Promise<ReadModelStore> {
  const projection = await openProjection(undefined, madeUp as never)
  const records = log.map((entry) =>
    'discards' in entry ? madeUpDiscard(entry.stream, entry.discards) : happening(entry),
  )
  await projection.apply(records, cuts)
  return projection.store
}

const anyDraws = fc.array(anyEntry, { maxLength: 40, size: 'max' })
const anyCuts = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 12 })
const anyBeginning = fc.constantFrom(0, 0, 0, 60, 127, 128, 129, 190, 193, 230)

/** Each error that was planted was found in fewer; a failure tells the seed. */
const numRuns = 300

describe('what became of an event', () => {
  it('is told of every event as the classifier had it, however the log was cut', async () => {
    await fc.assert(
      fc.asyncProperty(anyBeginning, anyDraws, anyCuts, async (first, draws, cuts) => {
        const log = grown(begun(first), draws, 'event')
        const store = await projected(log, cuts)
        const expected = referenceOutcomes(log)
        for (const [offset, entry] of log.entries()) {
          if (!('discards' in entry))
            expect([offset, await toldOf(store, offset, entry)]).toEqual([offset, expected[offset]])
        }
      }),
      { numRuns },
    )
  }, 300_000)

  it('is never that it took effect, of an event that a log lost with its end and whose offset it gave to another', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyBeginning,
        anyDraws,
        anyDraws,
        fc.nat(40),
        anyCuts,
        async (first, lost, draws, kept, cuts) => {
          const before = grown(begun(first), lost, 'lost')
          const end = Math.min(before.length, first + kept)
          const log = grown(before.slice(0, end), draws, 'event')
          const store = await projected(log, cuts)
          for (const [i, entry] of before.slice(end, log.length).entries()) {
            if ('discards' in entry) continue
            expect(['superseded', 'duplicate', 'parked']).toContain(await toldOf(store, end + i, entry))
          }
        },
      ),
      { numRuns },
    )
  }, 300_000)
})
