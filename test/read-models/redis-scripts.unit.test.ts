import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseProgressMessage, progressMessage } from '../../src/read-models/redis/progress-message.ts'
import { scriptFiles } from '../../src/read-models/redis/redis-scripts.ts'

const folder = new URL('../../src/read-models/redis/', import.meta.url)
const files = readdirSync(folder).filter((file) => file.endsWith('.lua'))

/** What is wrong with the header of a script: it has to name the script, all its keys and arguments, and what it returns. */
function headerFaults(file: string, lua: string): string[] {
  const name = file.replace(/\.lua$/, '')
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
  const fixed = /-(\d+)$/.exec(name)?.[1]
  const isOpen = /KEYS\[\d+\.\.\]/.test(header)
  if (isOpen !== (fixed === undefined)) faults.push('its name and its KEYS differ in whether their number is fixed')
  if (fixed !== undefined && indexesOf('KEYS', header).length !== Number(fixed)) faults.push(`not ${fixed} KEYS`)
  return faults
}

function indexesOf(array: string, text: string): number[] {
  const found = [...text.matchAll(new RegExp(`${array}\\[(\\d+)`, 'g'))].map(([, index]) => Number(index))
  return [...new Set(found)].sort((a, b) => a - b)
}

describe('Lua scripts', () => {
  it('are all loaded, and nothing else', () => {
    expect(Object.values(scriptFiles).sort()).toEqual(files.sort())
  })

  it.each(files)('%s has a header that is its signature', (file) => {
    expect(headerFaults(file, readFileSync(new URL(file, folder), 'utf8'))).toEqual([])
  })

  it.each([
    ['another name', 'x-1', '--[[ y-1: does x.\n  KEYS[1] a\n  Returns 1 ]]\nreturn 1'],
    ['no return', 'x-1', '--[[ x-1: does x.\n  KEYS[1] a ]]\nreturn KEYS[1]'],
    ['a key untold', 'x-1', '--[[ x-1: does x.\n  KEYS[1] a\n  Returns 1 ]]\nreturn KEYS[2]'],
    ['an argument untold', 'x-1', '--[[ x-1: does x.\n  KEYS[1] a\n  Returns 1 ]]\nreturn ARGV[1]'],
    ['a gap', 'x-2', '--[[ x-2: does x.\n  KEYS[1] a KEYS[3] b\n  Returns 1 ]]\nreturn 1'],
    ['another number of keys', 'x-2', '--[[ x-2: does x.\n  KEYS[1] a\n  Returns 1 ]]\nreturn 1'],
    ['an open number of keys under a fixed one', 'x-1', '--[[ x-1: does x.\n  KEYS[1..] a\n  Returns 1 ]]\nreturn 1'],
  ])('a header with %s is found', (_fault, name, lua) => {
    expect(headerFaults(`${name}.lua`, lua)).not.toEqual([])
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
  ])('are read as they were written: %o', (progress) =>
    expect(parseProgressMessage(progressMessage('generation', progress))).toEqual({
      generation: 'generation',
      progress,
    }),
  )

  it.each(['', 'a b', 'a b c', 'a 1 2', 'a 1 2 3 4 5', 'a 1 2 3 ', 'a 1 2 3 4,', 'a 1 2 3 ,4', 'a 1 2 -3', ' 1 2 3'])(
    'are told from anything else: "%s"',
    (message) => {
      expect(parseProgressMessage(message)).toBeUndefined()
    },
  )
})
