import { useEffect, useRef } from 'preact/hooks'
import { figure, html, time } from './parts.js'

const heightPx = 130
const spanSeconds = 900
/** Lines are told apart by more than their colour. */
const dashes = [[], [6, 4], [2, 3]]

/**
 * Lines over the last quarter of an hour. `lines` have a name and a value for each sample, undefined where there is none:
 * the line then has a gap. `marks` are drawn across it.
 */
export function Plot({ title, unit, samples, lines, marks }) {
  const element = useRef()
  const plot = useRef()
  const shown = useRef([])
  shown.current = marks
  const names = lines.map(({ name }) => name).join()
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    function draw() {
      plot.current?.destroy()
      plot.current = newPlot(element.current, lines, shown)
      plot.current.setData(dataOf(samples, lines))
    }
    const resized = new ResizeObserver(([{ contentRect }]) =>
      plot.current?.setSize({ width: contentRect.width, height: heightPx }),
    )
    draw()
    resized.observe(element.current)
    dark.addEventListener('change', draw)
    return () => {
      resized.disconnect()
      dark.removeEventListener('change', draw)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names])
  useEffect(() => plot.current?.setData(dataOf(samples, lines)), [samples])
  const last = lines.map(({ name, of }) => `${name} ${figure(samples.length > 0 ? of(samples.at(-1)) : undefined)}`)
  return html`<figure>
    <figcaption>
      ${title}, ${unit}
      ${lines.map(({ name, of }, i) => {
        const value = samples.length > 0 ? of(samples.at(-1)) : undefined
        return html` <span class="legend line-${i}">${name} <b>${figure(value)}</b></span>`
      })}
    </figcaption>
    <div class="plot" ref=${element} role="img" aria-label=${`${title} over 15 minutes, ${unit}; now ${last.join(', ')}`}></div>
  </figure>`
}

function newPlot(element, lines, marks) {
  const style = getComputedStyle(document.documentElement)
  const colour = (name) => style.getPropertyValue(name).trim()
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
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
        ...{ label: name, stroke: colour(`--line-${i}`), width: 2, dash: dashes[i], points: { show: false } },
      })),
    ],
    hooks: { draw: [(plot) => drawMarks(plot, marks.current, colour('--mark'))] },
  }
  return new uPlot(options, [[], ...lines.map(() => [])], element)
}

function lastQuarter(_plot, _min, max) {
  const end = max > 0 ? max : Date.now() / 1000
  return [end - spanSeconds, end]
}

function upFromZero(_plot, _min, max) {
  return [0, max > 0 ? max * 1.1 : 1]
}

/** Where nothing was sampled for long, there is a gap too. */
function dataOf(samples, lines) {
  const whole = samples.flatMap((sample, i) => {
    const before = samples[i - 1]
    const isBehindGap = before !== undefined && sample.at - before.at > 15_000
    return isBehindGap ? [{ at: before.at + 1 }, sample] : [sample]
  })
  return [whole.map(({ at }) => at / 1000), ...lines.map(({ of }) => whole.map((sample) => of(sample) ?? null))]
}

function drawMarks({ ctx, bbox, scales, valToPos }, marks, colour) {
  ctx.save()
  ctx.strokeStyle = colour
  ctx.lineWidth = 1
  ctx.setLineDash([3, 3])
  for (const { at } of marks) {
    if (at / 1000 < scales.x.min || at / 1000 > scales.x.max) continue
    const x = Math.round(valToPos(at / 1000, 'x', true)) + 0.5
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}
