import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { print, printJson, printTable, showProgress } from '../../src/cli/output.ts'

function capture(stream: 'stdout' | 'stderr'): () => string {
  const write = vi.spyOn(process[stream], 'write').mockReturnValue(true)
  return () => write.mock.calls.map(([text]) => text).join('')
}

afterEach(() => void vi.restoreAllMocks())

describe('what a command prints', () => {
  it('is lines', () => {
    const output = capture('stdout')
    print('one')
    print('two')
    expect(output()).toBe('one\ntwo\n')
  })

  it('is, with --json, one document that ends a line', () => {
    const output = capture('stdout')
    printJson({ pets: 1, counters: {} })
    expect(JSON.parse(output())).toEqual({ pets: 1, counters: {} })
    expect(output()).toMatch(/\}\n$/)
  })

  it('is, as a table, columns as wide as their widest cell and no blanks at the end of a line', () => {
    const output = capture('stdout')
    printTable(
      ['EVENT', 'SUBJECT', 'REASON'],
      [
        ['0/1', '5000001', 'taken'],
        ['12/123456', '7', ''],
      ],
    )
    expect(output()).toBe('EVENT      SUBJECT  REASON\n0/1        5000001  taken\n12/123456  7\n')
  })

  it('is only the header where a table is empty', () => {
    const output = capture('stdout')
    printTable(['COUNTER', 'COUNT'], [])
    expect(output()).toBe('COUNTER  COUNT\n')
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
