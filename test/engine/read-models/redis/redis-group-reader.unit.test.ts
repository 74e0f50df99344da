import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DamagedError } from '../../../../src/engine/read-models/damaged.ts'
import { type Answer, groupReader, type SetLookup } from '../../../../src/engine/read-models/redis/group-reader.ts'
import type { Replies } from '../../../../src/engine/read-models/redis/redis-calls.ts'
import { redisKeys } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import { numbers } from '../contract/values.ts'

const keys = redisKeys({ prefix: 'test', version: 'v1' })

/** The server: it finds the id that is asked for, and tells of the checkpoints key it was asked about, or what `state` says. */
function openReader(
  answer: (calls: number) => Promise<unknown> = () => setImmediate(),
  state: (calls: number) => string | undefined = () => undefined,
) {
  const calls: { keys: string[]; lookups: string[][] }[] = []
  let [underWay, mostUnderWay] = [0, 0]
  const reader = groupReader(keys, async (names, [, text = '']): Promise<Replies['read']> => {
    const lookups = [...text.matchAll(/(\S+) (\S+) (\S+) (\S+) (\S+) /g)].map((match) => match.slice(1))
    const count = calls.push({ keys: names, lookups })
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    try {
      await answer(count)
    } finally {
      underWay--
    }
    return [state(count) ?? names[1] ?? '', '110', ...lookups.map(([, , id]) => id ?? '')]
  })
  const read = (generation: string, ...lookups: [id: number, set?: string][]): Promise<Answer> =>
    reader(
      generation,
      lookups.map(([id, set = 'all']): SetLookup => ({ what: 'member', set, of: id })),
    )
  const readAs = (owner: string, id: number) => reader('g', [{ what: 'member', set: 'all', of: id }], owner)
  return { calls, read, readAs, mostUnderWay: () => mostUnderWay }
}

const found = (answers: readonly Answer[]) => answers.map((answer) => answer.found.map(Number))

describe('the reader of groups from Redis', () => {
  it('groups the reads of one turn into one call, which names each set once', async () => {
    const { calls, read } = openReader()
    const answers = await Promise.all([read('g', [1, 'a'], [2]), read('g'), read('g', [3, 'b']), read('g', [4, 'a'])])
    expect(found(answers)).toEqual([[1, 2], [], [3], [4]])
    expect(answers.map(({ proof }) => proof.isComplete)).toEqual([true, true, false, true]) // as the server says of 'b'
    const { checkpoints, sizes, set } = keys.generation('g')
    expect(calls.map((call) => call.keys)).toEqual([[keys.active, checkpoints, sizes, set('a'), set('all'), set('b')]])
    expect(calls[0]?.lookups.map(([, set]) => set)).toEqual(['1', '2', '3', '1'])
  })

  it.each([1, 16, 17, 64, 65, 500])('gives each of %d its own answer, in calls of at most 16', async (count) => {
    const { calls, read } = openReader()
    expect(found(await Promise.all(numbers(count).map((id) => read('g', [id]))))).toEqual(
      numbers(count).map((id) => [id]),
    )
    expect(Math.max(...calls.map(({ lookups }) => lookups.length))).toBeLessThanOrEqual(16)
    expect(calls).toHaveLength(Math.ceil(count / 16))
  })

  it('has few calls under way, however much is asked for', async () => {
    const { read, mostUnderWay } = openReader(() => setTimeout(5))
    const answers: Promise<Answer>[] = []
    for (const id of numbers(300)) {
      answers.push(read('g', [id]))
      if (id % 5 === 0) await setImmediate()
    }
    expect(found(await Promise.all(answers))).toEqual(numbers(300).map((id) => [id]))
    expect(mostUnderWay()).toBeLessThanOrEqual(4)
  })

  it('asks about one generation with each call', async () => {
    const { calls, read } = openReader()
    const generations = ['a', 'a', 'b', 'a', 'c', 'c', 'c']
    const answers = await Promise.all(generations.map((generation, i) => read(generation, [i + 1])))
    expect(found(answers)).toEqual(numbers(7).map((id) => [id]))
    expect(answers.map(({ proof }) => proof.active)).toEqual(generations.map((g) => keys.generation(g).checkpoints))
    expect(calls.map(({ lookups }) => lookups.length)).toEqual([3, 1, 3])
  })

  it('takes turns between owners, however much one of them asks for', async () => {
    const { calls, readAs } = openReader()
    const ofMany = numbers(900).map((id) => readAs('many', id))
    await Promise.all([readAs('few', 901), readAs('few', 902), readAs('one', 903)])
    expect(calls.length).toBeLessThanOrEqual(2)
    expect(calls[0]?.lookups.slice(0, 6).map(([, , id]) => Number(id))).toEqual([1, 901, 903, 2, 902, 3])
    await Promise.all(ofMany)
  })

  it('goes on after a call that failed, which all in it and all that wait are told', async () => {
    const error = new Error('failed')
    const { read } = openReader((call) => (call === 1 ? Promise.reject(error) : setImmediate()))
    const results = await Promise.allSettled(numbers(20).map((id) => read('g', [id])))
    for (const result of results) expect(result).toEqual({ status: 'rejected', reason: error })
    expect((await read('g', [7])).found).toEqual(['7'])
  })

  it('rejects the reads of an answer that cannot be decoded, and goes on', async () => {
    const { read } = openReader(undefined, (call) => (call === 1 ? 'g\u00000\u0000not a checkpoint' : undefined))
    const results = await Promise.allSettled([read('g', [1]), read('g', [2])])
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DamagedError) })
    expect((await read('g', [7])).found).toEqual(['7'])
  })

  it.each([490, 450, 260, 100])(
    'settles within one second with a server that takes %d ms for each call',
    async (ms) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const { read } = openReader(() => new Promise<void>((resolve) => globalThis.setTimeout(resolve, ms)))
      let answered = 0
      async function ask(id: number): Promise<void> {
        const before = performance.now()
        try {
          expect((await read('g', [id])).found).toEqual([String(id)])
          answered++
        } catch (error) {
          expect(error).toMatchObject({ code: 'read_model_unavailable' })
        }
        expect(performance.now() - before).toBeLessThan(1000)
      }
      const asked = numbers(200).map(ask)
      for (const id of numbers(100)) {
        await vi.advanceTimersByTimeAsync(10)
        asked.push(...numbers(10).map(() => ask(id)))
      }
      await vi.advanceTimersByTimeAsync(2000)
      await Promise.all(asked)
      expect(answered).toBeGreaterThan(0)
    },
  )
})
