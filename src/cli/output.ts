import { Presets, SingleBar } from 'cli-progress'

/** Exit codes of the process, for scripts. */
export const exitCodes = { notAsItShouldBe: 1, badUsage: 2, outOfReach: 3 } as const

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** One document, the only thing that a command with --json writes to standard output. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2))
}

/** Columns are as wide as their widest cell. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of [header, ...rows]) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

export interface Progress {
  update(step: string, done: number, total: number): void
  end(): void
}

const lineEveryMs = 5000

/** On standard error: a bar on a terminal, now and then a line elsewhere, or lines of JSON. */
export function showProgress(json: boolean): Progress {
  if (!json && process.stderr.isTTY) return bar()
  let started: { step: string; at: number; done: number } | undefined
  let last = 0
  function update(step: string, done: number, total: number): void {
    const now = performance.now()
    if (started?.step !== step) started = { step, at: now, done }
    else if (now - last < lineEveryMs) return
    last = now
    const rate = (done - started.done) / Math.max(0.001, (now - started.at) / 1000)
    const progress = { step, done, total, perSecond: Math.round(rate), secondsLeft: secondsLeft(done, total, rate) }
    process.stderr.write(`${json ? JSON.stringify(progress) : asLine(progress)}\n`)
  }
  return { update, end() {} }
}

function secondsLeft(done: number, total: number, rate: number): number | null {
  return rate > 0 ? Math.round((total - done) / rate) : null
}

function asLine({ step, done, total, perSecond, secondsLeft: left }: Record<string, string | number | null>): string {
  return `${step}: ${done} of ${total}, ${perSecond} a second${left === null ? '' : `, ${left} s left`}`
}

function bar(): Progress {
  const format = '{step} {bar} {percentage} % | {value} of {total} | {rate} a second | {eta_formatted} left'
  const shown = new SingleBar({ format, clearOnComplete: true, hideCursor: true }, Presets.shades_classic)
  let step: string | undefined
  let at = 0
  let from = 0
  function update(next: string, done: number, total: number): void {
    if (next !== step) {
      step = next
      at = performance.now()
      from = done
      shown.start(total, done, { step, rate: 0 })
    }
    const rate = Math.round((done - from) / Math.max(0.001, (performance.now() - at) / 1000))
    shown.setTotal(total)
    shown.update(done, { step, rate })
  }
  return { update, end: () => shown.stop() }
}
