import { useEffect, useRef } from 'preact/hooks'
import { figure, html, time } from './parts.js'

/**
 * @import { Mark } from '../answers.ts'
 * @import { Line, Plotted } from './types.ts'
 */

const heightPx = 130
const spanSeconds = 900
/** Lines are told apart by more than their colour. */
const dashes = [[], [6, 4], [2, 3]]

/**
 * Lines over the last quarter of an hour. `lines` have a name and a value for each sample, undefined where there is none:
 * the line then has a gap. `marks` are drawn across it.
 * @param {{ title: string, unit: string, samples: readonly Plotted[], lines: readonly Line[], marks: readonly Mark[] }} props
 */
export function Plot({ title, unit, samples, lines, marks }) {
  const element = useRef(/** @type {HTMLElement | null} */ (null))
  const plot = useRef(/** @type {uPlot | undefined} */ (undefined))
  const shown = useRef(marks)
  shown.current = marks
  const names = lines.map(({ name }) => name).join()
  useEffect(() => {
    const { current: within } = element
    if (within === null) return
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const draw = () => {
      plot.current?.destroy()
      plot.current = newPlot(within, lines, shown)
      plot.current.setData(dataOf(samples, lines))
    }
    const resized = new ResizeObserver((entries) => {
      for (const { contentRect } of entries) plot.current?.setSize({ width: contentRect.width, height: heightPx })
    })
    draw()
    resized.observe(within)
    dark.addEventListener('change', draw)
    return () => {
      resized.disconnect()
      dark.removeEventListener('change', draw)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names])
  useEffect(() => plot.current?.setData(dataOf(samples, lines)), [samples])
  const last = samples.at(-1)
  const now = lines.map(({ name, of }) => ({ name, value: figure(last && of(last)) }))
  return html`<figure>
    <figcaption>
      ${title}, ${unit}
      ${now.map(({ name, value }, i) => html` <span class="legend line-${i}">${name} <b>${value}</b></span>`)}
    </figcaption>
    <div class="plot" ref=${element} role="img" aria-label=${`${title} over 15 minutes, ${unit}; now ${now.map(({ name, value }) => `${name} ${value}`).join(', ')}`}></div>
  </figure>`
}

/** @param {HTMLElement} element @param {readonly Line[]} lines @param {{ current: readonly Mark[] }} marks */
function newPlot(element, lines, marks) {
  const style = getComputedStyle(document.documentElement)
  /** @param {string} name */
  const colour = (name) => style.getPropertyValue(name).trim()
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  /** @type {uPlot.Options} */
  const options = {
    width: element.clientWidth || 300,
    height: heightPx,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: true, range: lastQuarter }, y: { range: upFromZero } },
    axes: [
      { ...axis, size: 30, values: (_plot, ticks) => ticks.map((at) => time(at * 1000).slice(0, 5)) },
      { ...axis, size: 48 },
    ],
    series: [
      {},
      ...lines.map(({ name }, i) => ({
        ...{ label: name, stroke: colour(`--line-${i}`), width: 2, dash: dashes[i] ?? [], points: { show: false } },
      })),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, marks.current, colour('--mark'))] },
  }
  return new uPlot(options, [[], ...lines.map(() => [])], element)
}

/** @type {uPlot.Range.Function} */
function lastQuarter(_plot, _min, max) {
  const end = max > 0 ? max : Date.now() / 1000
  return [end - spanSeconds, end]
}

/** @type {uPlot.Range.Function} */
function upFromZero(_plot, _min, max) {
  return [0, max > 0 ? max * 1.1 : 1]
}

/**
 * Where nothing was sampled for long, there is a gap too.
 * @param {readonly Plotted[]} samples
 * @param {readonly Line[]} lines
 * @returns {uPlot.AlignedData}
 */
function dataOf(samples, lines) {
  const whole = samples.flatMap((sample, i) => {
    const before = samples[i - 1]
    const isBehindGap = before !== undefined && sample.at - before.at > 15_000
    return isBehindGap ? [{ at: before.at + 1 }, sample] : [sample]
  })
  return [whole.map(({ at }) => at / 1000), ...lines.map(({ of }) => whole.map((sample) => of(sample) ?? null))]
}

/** @param {uPlot} plot @param {readonly Mark[]} marks @param {string} colour */
function drawMarks({ ctx, bbox, scales, valToPos }, marks, colour) {
  const { min = 0, max = 0 } = scales.x ?? {}
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = 1
  ctx.setLineDash([3, 3])
  for (const { at } of marks) {
    if (at / 1000 < min || at / 1000 > max) continue
    const x = Math.round(valToPos(at / 1000, 'x', true)) + 0.5
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}
