import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { addAction, print, table } from '../../../src/engine/cli/output.ts'
import { showProgress } from '../../../src/engine/cli/progress.ts'
import { written } from '../../lib/run-commands.ts'

function capture(stream: 'stdout' | 'stderr'): () => string {
  const write = vi.spyOn(process[stream], 'write').mockImplementation(written)
  return () => write.mock.calls.map(([text]) => text).join('')
}

afterEach(() => void vi.restoreAllMocks())

describe('what a command prints', () => {
  async function run(text: string, ...options: string[]): Promise<string> {
    const output = capture('stdout')
    const command = new Command()
    addAction(
      command.argument('<name>').option('--more'),
      'Does it',
      async (name: string, { more }: { more?: boolean }) => {
        return { json: { name, more, counters: {} }, text }
      },
    )
    await command.parseAsync(['one', ...options], { from: 'user' })
    return output()
  }

  it.each([
    ['two\nlines', 'two\nlines\n'],
    ['', ''],
  ])('is its text, and nothing where there is none', async (text, printed) => expect(await run(text)).toBe(printed))

  it('moves no cursor and turns no text round, whatever somebody called something', async () => {
    const evil = 'a\u001b[2Kb\u0007\u009b31m\u202e\u2066c\r\tZoë 🐕'
    const shown = 'a\\u001b[2Kb\\u0007\\u009b31m\\u202e\\u2066c\\u000d\\u0009Zoë 🐕'
    expect(await run(`${evil}\n${evil}`)).toBe(`${shown}\n${shown}\n`)
    vi.restoreAllMocks()
    const output = capture('stdout')
    await print(JSON.stringify({ name: evil }))
    expect(output()).not.toMatch(/[\u202e\u009b]/)
    expect(JSON.parse(output())).toEqual({ name: evil })
  })

  it('is, with --json, one document that ends a line', async () => {
    const printed = await run('two\nlines', '--json', '--more')
    expect(JSON.parse(printed)).toEqual({ name: 'one', more: true, counters: {} })
    expect(printed).toMatch(/\}\n$/)
  })

  const events = [
    ['0/1', '5000001', 'taken'],
    ['12/123456', '7', ''],
  ]
  it.each([
    [events, 'EVENT      SUBJECT  REASON\n0/1        5000001  taken\n12/123456  7'],
    [[], 'EVENT  SUBJECT  REASON'],
    [[['0/1', '7\n0/2', 'a\r\nb']], 'EVENT  SUBJECT     REASON\n0/1    7\\u000a0/2  a\\u000d\\u000ab'],
  ])('has in a table columns as wide as their widest cell and no blanks at the end of a line', (rows, text) => {
    expect(table(['EVENT', 'SUBJECT', 'REASON'], rows)).toBe(text)
  })

  it('has in a table as many rows as others made', () => {
    expect(table(['EVENT'], Array(300_000).fill(['0/1'])).split('\n')).toHaveLength(300_001)
  })
})

describe('progress, off a terminal', () => {
  const ofProcess = process.stderr.isTTY
  beforeEach(() => {
    process.stderr.isTTY = false
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    process.stderr.isTTY = ofProcess
    vi.useRealTimers()
  })

  function show(json: boolean): string[] {
    const output = capture('stderr')
    const progress = showProgress(json)
    const steps: [string, number, number][] = [
      ['replay', 0, 0],
      ['replay', 500, 1000], // too soon after the line before
      ['replay', 4000, 5000],
      ['compare', 1000, 1000],
    ]
    for (const [step, done, after] of steps) {
      vi.advanceTimersByTime(after)
      progress.update(step, done, 10_000)
    }
    progress.end()
    return output().trimEnd().split('\n')
  }

  it('is a line for each step and every five seconds, with rate and time left', () => {
    expect(show(false)).toEqual([
      'replay: 0 of 10000, 0 a second',
      'replay: 4000 of 10000, 667 a second, 9 s left',
      'compare: 1000 of 10000, 0 a second',
    ])
  })

  it('is lines of JSON with --json', () => {
    const [begun, later] = show(true).map((line) => JSON.parse(line))
    expect(begun).toEqual({ step: 'replay', done: 0, total: 10_000, perSecond: 0, secondsLeft: null })
    expect(later).toEqual({ step: 'replay', done: 4000, total: 10_000, perSecond: 667, secondsLeft: 9 })
  })
})
