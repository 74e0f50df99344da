import { expect, it } from 'vitest'
import { FirstRecords, parseFirstRecords } from '../../../../src/engine/log/kafka/first-records.ts'
import { UndecodableError } from '../../../../src/engine/log/kafka/kafka-reader.ts'

const deadline = Number.POSITIVE_INFINITY

/** The first record of each partition, undefined where Kafka has deleted it, 'damaged', or null where there is none. */
type Firsts = readonly (string | null | undefined)[]

function open(firsts: () => Firsts, noted: ConstructorParameters<typeof FirstRecords>[2] = []): FirstRecords {
  const reader = {
    offsets: async () => firsts().map((first) => (first === null ? 0 : 7)),
    record: async (_topic: string, offset: number, _limitMs: number, partition = 0) => {
      const value = firsts()[partition]
      if (value === 'damaged') throw new UndecodableError('seats', offset, 'it is damaged')
      return typeof value === 'string' ? { offset, key: null, value: Buffer.from(value) } : undefined
    },
  }
  return new FirstRecords(reader, 'seats', noted)
}

async function pinned(firsts: Firsts) {
  const records = open(() => firsts)
  await records.pin(
    firsts.map((first) => (first === null ? 0 : 7)),
    deadline,
  )
  return records.pinned
}

it('are those of partitions that have records, and not of more than eight; what cannot be pinned is asked for once', async () => {
  expect((await pinned([null, 'a', undefined, 'b'])).map(({ partition }) => partition)).toEqual([1, 3])
  expect(await pinned(Array.from({ length: 20 }, String))).toHaveLength(8)
  let asked = 0
  const firsts = () => {
    asked++
    return ['damaged']
  }
  const records = open(firsts)
  for (let look = 0; look < 3; look++) await records.pin([7], deadline)
  expect(asked).toBe(1)
})

it.each<[what: string, now: Firsts, areGone: boolean]>([
  ['the same', ['a', 'b', null], false],
  ['one that is left, where a partition lost all it had', [null, 'b', null], false],
  ['one that is left, where another came after that', ['c', 'b', null], false],
  ['none', [null, null, null], true],
  ['others', ['c', 'd', null], true],
  ['others in one partition, and none in the other', ['c', null, 'e'], true],
  ['a partition without its front, which proves nothing', ['c', undefined, null], false],
  ['a damaged record, which proves nothing', ['damaged', 'c', null], false],
])('a topic with %s', async (_, now, areGone) => {
  const noted = await pinned(['a', 'b', null])
  expect(await open(() => now, noted).areGone(deadline)).toBe(areGone)
})

it('of nothing say nothing', async () => {
  expect(await open(() => [null]).areGone(deadline)).toBe(false)
})

it('that were noted are read back, whatever else stands in their place', () => {
  const noted = [{ partition: 3, identity: 'x' }]
  expect(parseFirstRecords(JSON.parse(JSON.stringify(noted)))).toEqual(noted)
  for (const other of [undefined, null, 'text', [null], [{ partition: 'x', identity: 'x' }], [{ partition: 1 }]]) {
    expect(parseFirstRecords(other)).toEqual([])
  }
})
