import { Presets, SingleBar } from 'cli-progress'

export interface Progress {
  update(step: string, done: number, total: number): void
  end(): void
}

const lineEveryMs = 5000

/** On standard error: a bar on a terminal, now and then a line elsewhere, or lines of JSON. */
export function showProgress(json: boolean): Progress {
  const format = '{step} {bar} {percentage} % | {value} of {total} | {rate} a second | {eta_formatted} left'
  const bar =
    !json && process.stderr.isTTY
      ? new SingleBar({ format, clearOnComplete: true, hideCursor: true }, Presets.shades_classic)
      : undefined
  let begun: { step: string; at: number; done: number } | undefined
  let shownAt = 0

  function update(step: string, done: number, total: number): void {
    const now = performance.now()
    const isNew = begun?.step !== step
    if (begun === undefined || isNew) begun = { step, at: now, done }
    const rate = (done - begun.done) / Math.max(0.001, (now - begun.at) / 1000)
    const perSecond = Math.round(rate)
    if (bar !== undefined) {
      if (isNew) bar.start(total, done, { step, rate: perSecond })
      bar.setTotal(total)
      bar.update(done, { step, rate: perSecond })
    } else if (isNew || now - shownAt >= lineEveryMs) {
      shownAt = now
      const secondsLeft = rate > 0 ? Math.round((total - done) / rate) : null
      const left = secondsLeft === null ? '' : `, ${secondsLeft} s left`
      const line = json
        ? JSON.stringify({ step, done, total, perSecond, secondsLeft })
        : `${step}: ${done} of ${total}, ${perSecond} a second${left}`
      process.stderr.write(`${line}\n`)
    }
  }
  return { update, end: () => bar?.stop() }
}
