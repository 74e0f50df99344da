import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { RangeAnswer } from '../../src/read-models/read-models.ts'
import { RangeReader, type RangesReply } from '../../src/read-models/redis/range-reader.ts'
import { redisKeys } from '../../src/read-models/redis/redis-keys.ts'

const keys = redisKeys({ prefix: 'test', version: 'v1' })

/** The server: it answers each range with its lowest id, and with the checkpoints key it was asked about. */
function openReader(answer: (calls: number) => Promise<unknown> = () => setImmediate()) {
  const calls: { keys: string[]; ranges: string[][] }[] = []
  let [underWay, mostUnderWay] = [0, 0]
  const reader = new RangeReader(keys, async (names, [, text]): Promise<RangesReply> => {
    const ranges = text
      .trim()
      .split(' ')
      .flatMap((_, i, parts) => (i % 4 === 0 ? [parts.slice(i, i + 4)] : []))
    calls.push({ keys: names, ranges })
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    try {
      await answer(calls.length)
    } finally {
      underWay--
    }
    return [names[1] ?? '', ranges.map(() => '1 - 1').join(' '), ...ranges.map(([, from]) => from ?? '')]
  })
  const read = (generation: string, id: number, index?: string): Promise<RangeAnswer> =>
    reader.read(generation, { index, from: id, limit: 1 })
  return { calls, read, mostUnderWay: () => mostUnderWay }
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

describe('the reader of ranges from Redis', () => {
  it('asks for what came in one turn with one call, naming each set once', async () => {
    const { calls, read } = openReader()
    const asked = ['a', undefined, 'b', 'a', undefined].map((index, i) => read('g', i + 1, index))
    expect((await Promise.all(asked)).map(({ documents }) => documents)).toEqual(['1', '2', '3', '4', '5'])
    const { checkpoints, documents, index } = keys.generation('g')
    expect(calls.map((call) => call.keys)).toEqual([[keys.active, checkpoints, documents, index('a'), index('b')]])
    expect(calls[0]?.ranges.map(([set]) => set)).toEqual(['2', '1', '3', '2', '1'])
  })

  it.each([1, 16, 17, 64, 65, 500])('gives each of %d its own answer, in calls of at most 16', async (count) => {
    const { calls, read } = openReader()
    const answers = await Promise.all(numbers(count).map((id) => read('g', id)))
    expect(answers.map(({ documents }) => Number(documents))).toEqual(numbers(count))
    expect(Math.max(...calls.map(({ ranges }) => ranges.length))).toBeLessThanOrEqual(16)
    expect(calls).toHaveLength(Math.ceil(count / 16))
  })

  it('has few calls under way, however many ranges come', async () => {
    const { read, mostUnderWay } = openReader(() => setTimeout(5))
    const answers: Promise<RangeAnswer>[] = []
    for (const id of numbers(300)) {
      answers.push(read('g', id))
      if (id % 5 === 0) await setImmediate()
    }
    expect((await Promise.all(answers)).map(({ documents }) => Number(documents))).toEqual(numbers(300))
    expect(mostUnderWay()).toBeLessThanOrEqual(4)
  })

  it('asks about one generation with each call, and in the order asked for', async () => {
    const { calls, read } = openReader()
    const generations = ['a', 'a', 'b', 'a', 'c', 'c', 'c']
    const answers = await Promise.all(generations.map((generation, i) => read(generation, i + 1)))
    expect(answers.map(({ documents }) => Number(documents))).toEqual(numbers(7))
    expect(answers.map(({ moment }) => moment.active)).toEqual(generations.map((g) => keys.generation(g).checkpoints))
    expect(calls.map(({ ranges }) => ranges.length)).toEqual([2, 1, 1, 3])
  })

  it('goes on after a call that failed, which each of its group is told', async () => {
    const error = new Error('failed')
    const { read } = openReader((call) => (call === 1 ? Promise.reject(error) : setImmediate()))
    const results = await Promise.allSettled(numbers(16).map((id) => read('g', id)))
    for (const result of results) expect(result).toEqual({ status: 'rejected', reason: error })
    expect((await read('g', 7)).documents).toBe('7')
  })

  it.each([490, 450, 260, 100])(
    'settles within one second with a server that takes %d ms for each call',
    async (ms) => {
      const { read } = openReader(() => setTimeout(ms))
      const settled: Promise<{ took: number; reason?: unknown; documents?: string; id: number }>[] = []
      const ask = (id: number) => {
        const before = performance.now()
        const took = () => performance.now() - before
        settled.push(
          read('g', id).then(
            ({ documents }) => ({ id, took: took(), documents }),
            (reason: unknown) => ({ id, took: took(), reason }),
          ),
        )
      }
      for (const id of numbers(200)) ask(id)
      for (const id of numbers(100)) {
        await setTimeout(10)
        for (const _ of numbers(10)) ask(id)
      }
      const results = await Promise.all(settled)
      for (const { id, took, reason, documents } of results) {
        expect(took).toBeLessThan(1000)
        if (reason === undefined) expect(documents).toBe(String(id))
        else expect(reason).toMatchObject({ code: 'read_model_unavailable' })
      }
      expect(results.some(({ reason }) => reason === undefined)).toBe(true)
    },
  )
})
