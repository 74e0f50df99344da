import { describe, expect, it } from 'vitest'
import { scripts } from '../../../../src/engine/read-models/redis/redis-calls.ts'
import { parseProgressMessage, progressMessage } from '../../../../src/engine/read-models/redis/redis-progress.ts'
import { decodeEntry, decodeSnapshot } from '../../../../src/engine/read-models/redis/stored.ts'
import { encodeCheckpoint, startOfPartition } from '../../../../src/engine/read-models/stored-texts.ts'

/** What is wrong with the header of a script: it has to name the script, all its keys and arguments, and what it returns. */
function headerFaults(name: string, lua: string): string[] {
  const [, header = '', body = ''] = /^--\[\[ (.*?) \]\]\n(.*)$/s.exec(lua) ?? []
  const faults: string[] = []
  if (!header.startsWith(`${name}: `)) faults.push(`does not begin with "--[[ ${name}: "`)
  if (!/^ {2}Returns /m.test(header)) faults.push('does not say what it returns')
  for (const array of ['KEYS', 'ARGV']) {
    const told = indexesOf(array, header)
    if (!told.every((index, i) => index === i + 1)) faults.push(`${array} are told as ${told}`)
    const untold = indexesOf(array, body).filter((index) => !told.includes(index))
    if (untold.length > 0) faults.push(`${array}[${untold}] used but not told`)
  }
  return faults
}

function indexesOf(array: string, text: string): number[] {
  const found = [...text.matchAll(new RegExp(`${array}\\[(\\d+)`, 'g'))].map(([, index]) => Number(index))
  return [...new Set(found)].sort((a, b) => a - b)
}

describe('Lua scripts', () => {
  it.each(Object.entries(scripts))('%s has a header that is its signature', (name, { lua }) => {
    expect(headerFaults(name, lua)).toEqual([])
  })

  it.each([
    ['another name', '--[[ y: does x.\n  KEYS[1] a\n  Returns 1 ]]\nreturn 1'],
    ['no return', '--[[ x: does x.\n  KEYS[1] a ]]\nreturn KEYS[1]'],
    ['a key untold', '--[[ x: does x.\n  KEYS[1] a\n  Returns 1 ]]\nreturn KEYS[2]'],
    ['an argument untold', '--[[ x: does x.\n  KEYS[1] a\n  Returns 1 ]]\nreturn ARGV[1]'],
    ['a gap', '--[[ x: does x.\n  KEYS[1] a KEYS[3] b\n  Returns 1 ]]\nreturn 1'],
  ])('a header with %s is found', (_fault, lua) => {
    expect(headerFaults('x', lua)).not.toEqual([])
  })
})

describe('progress messages', () => {
  const greatest = Number.MAX_SAFE_INTEGER
  it.each([
    undefined,
    { partition: 0, from: 0, next: 1, withoutEffect: [] },
    { partition: 12, from: greatest - 1, next: greatest, withoutEffect: [] },
    { partition: 12, from: 8, next: 9, withoutEffect: [8] },
    { partition: 12, from: 1, next: 9, withoutEffect: [3, 5, 8] },
    { partition: 12, from: 1, next: 9, withoutEffect: Array<number>(500).fill(greatest) },
  ])('are read as they were written: %o', (progress) =>
    expect(parseProgressMessage(progressMessage('generation', progress))).toEqual({
      generation: 'generation',
      progress,
    }),
  )

  const forms = [
    '',
    'a b',
    'a b c',
    'a 1 2',
    'a 1 2 3 4 5',
    'a 1 2 3 ',
    'a 1 2 3 4,',
    'a 1 2 3 ,4',
    'a 1 2 -3',
    ' 1 2 3',
  ]
  it.each([...forms, 'a 1000 1 2', 'a 4294967294 1 2', 'a 1 2 99999999999999999'])(
    'are told from anything else: "%s"',
    (message) => {
      expect(parseProgressMessage(message)).toBeUndefined()
    },
  )

  it('are not read where they are longer than any of ours', () => {
    expect(parseProgressMessage(`a 1 2 3 4${',4'.repeat(17_000)}`)).toBeUndefined()
  })
})

it('a checkpoint of what is no partition is none, and a checkpoint without a position is refused', () => {
  const stored = encodeCheckpoint({ ...startOfPartition, next: 3 })
  const { checkpoints } = decodeSnapshot('generation', ['epoch', 'log', '999', stored, '4294967294', stored])
  expect([...checkpoints.keys()]).toEqual([999])
  expect(() => decodeSnapshot('generation', ['0', stored.replace('3', '1e300')])).toThrow('not a checkpoint')
})

describe('an entry of a keyed set', () => {
  const [id, json] = ['0000000000000007', '{"id":7,"text":" 0000000000000008{\\"id\\":8}"}']
  it.each([
    '1:7',
    '1:7available ',
    '1:7 ',
    '1:7available  1234567890123456 ',
    '5:1:7a ',
    '3:é🐕sold ',
    '17:00000000000000012',
    '3:{ }',
  ])('that begins with "%s" is told apart from its JSON', (beginning) => {
    expect(decodeEntry(`${beginning}${id}${json}`)).toEqual([`${beginning}${id}`, json])
  })

  it.each([
    '',
    '7',
    `7${id}${json}`,
    `:7${id}${json}`,
    `1:${id}{`,
    `1:7${id}`,
    `1:7${id}7${json}`,
    `999:7${id}${json}`,
  ])('that cannot be read as such is named by all of it: "%s"', (entry) =>
    expect(decodeEntry(entry)).toEqual([entry, '']),
  )
})
