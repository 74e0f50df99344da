import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { LogOutput } from '../../../src/engine/app/log-output.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
})

/** A disk that is full while a test says so. */
function open() {
  const disk = { text: '', isFull: false }
  const stream = new Writable({
    decodeStrings: false,
    write: (text, _, done) => {
      if (disk.isFull) return done(new Error('ENOSPC: no space left on device, write'))
      disk.text += text
      done()
    },
  })
  return { disk, output: new LogOutput(outliving(stream)) }
}

/** An error leaves the stream as it was, as with standard output. */
function outliving(stream: Writable): Writable {
  stream._destroy = (error, done) => {
    done(error)
    ;(stream as unknown as { _undestroy(): void })._undestroy()
  }
  return stream
}

const lostLines = (count: number) => ({ level: 40, lost: count, msg: expect.stringContaining('lost') })
const linesOf = (text: string) => text.split('\n').filter(Boolean)

it('a line that cannot be written is lost, counted and warned of, and nothing fails', async () => {
  const { disk, output } = open()
  const logger = pino({ base: null, timestamp: false }, output)
  disk.isFull = true
  logger.error('one')
  logger.info('two')
  await turn()
  expect([disk.text, output.lost]).toEqual(['', 2])
  expect(output.warnings).toEqual([{ code: 'log_lines_lost', message: expect.stringMatching(/ENOSPC.*so far: 2$/) }])
})

it('the next line that can be written comes after one that says how many were lost', async () => {
  const { disk, output } = open()
  disk.isFull = true
  output.write('one\n')
  await turn()
  output.write('two\n')
  await turn()
  disk.isFull = false
  output.write('three\n')
  await turn()
  const [first = '', ...others] = linesOf(disk.text)
  expect([JSON.parse(first), ...others]).toEqual([expect.objectContaining(lostLines(2)), 'three'])
  expect([output.lost, output.warnings]).toEqual([2, []])
})

it('what was lost is told soon after the disk has room again, also where nothing else is logged', async () => {
  const { disk, output } = open()
  disk.text = '{"cut sho'
  disk.isFull = true
  output.write('one\n')
  await turn()
  await vi.advanceTimersByTimeAsync(5000)
  await turn()
  expect(output.warnings).toHaveLength(1)
  disk.isFull = false
  await vi.advanceTimersByTimeAsync(1000)
  await turn()
  expect(
    linesOf(disk.text)
      .slice(1)
      .map((line) => JSON.parse(line)),
  ).toMatchObject([lostLines(1)])
  expect(output.warnings).toEqual([])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(linesOf(disk.text)).toHaveLength(2)
})

it('lines wait for a reader that stands still, up to a bound; an end waits for it only so long', async () => {
  const taken: (() => void)[] = []
  const stream = new Writable({ write: (_text, _, done) => void taken.push(done) })
  const output = new LogOutput(stream)
  const line = `${'x'.repeat(1023)}\n`
  for (let count = 0; count < 2000; count++) output.write(line)
  expect(stream.writableLength).toBeLessThan(1024 ** 2 + 2048)
  expect(output.lost).toBeGreaterThan(900)
  expect(output.warnings).toMatchObject([{ message: expect.stringContaining('not read') }])
  const flushed = output.flush(300)
  await vi.advanceTimersByTimeAsync(300)
  await flushed
})
