import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProjectingSummary } from './project-report.ts'
import { bytesPerPetMax, readings } from './stores.ts'

/** Writes a chart of each table, as SVG. */
export function writeCharts(folder: string, { replays, growth, latencies }: ProjectingSummary): void {
  const charts = {
    'replay.svg': barChart({
      title: 'Replay of the event log',
      axis: 'events per second: median, and range from the slowest to the fastest round',
      bars: replays.map(({ replayer, eventsPerSecond: { median, min, max } }) => ({
        label: replayer,
        value: median,
        range: [min, max],
      })),
    }),
    'memory.svg': barChart({
      title: 'Memory of Redis per pet',
      axis: 'bytes per pet: used_memory of the store, divided by its number of pets',
      bars: growth.map(({ pets, bytesPerPet }) => ({ label: `${grouped(pets)} pets`, value: bytesPerPet })),
      target: { label: `at most ${bytesPerPetMax}`, value: bytesPerPetMax },
    }),
    'latency.svg': lineChart({
      title: 'Reads over the size of the store',
      axes: { x: 'pets in the store (logarithmic)', y: 'median latency in ms, 1 connection' },
      series: readings.map((reading) => ({
        name: reading,
        points: latencies.filter((row) => row.reading === reading).map(({ pets, p50 }) => ({ x: pets, y: p50 })),
      })),
    }),
  }
  mkdirSync(folder, { recursive: true })
  for (const [file, chart] of Object.entries(charts)) writeFileSync(join(folder, file), chart)
}

const width = 720
const ink = '#24292f'
const faint = '#d0d7de'
/** Distinguishable also for people with colour blindness (Okabe and Ito). */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#999999'] as const

export interface BarChart {
  readonly title: string
  /** What the axis shows, with its unit. */
  readonly axis: string
  readonly bars: readonly {
    readonly label: string
    readonly value: number
    /** From least to greatest, drawn across the end of the bar. */
    readonly range?: readonly [least: number, greatest: number]
  }[]
  /** A line across all bars. */
  readonly target?: { readonly label: string; readonly value: number }
}

/** Horizontal bars from zero, as SVG. */
export function barChart({ title, axis, bars, target }: BarChart): string {
  const [left, right, top, rowHeight, barHeight] = [130, 40, 60, 40, 22]
  const highest = Math.max(...bars.flatMap(({ value, range }) => [value, range?.[1] ?? 0]), target?.value ?? 0)
  const ticks = ticksTo(highest * 1.08) // room for the figures behind the bars
  const scale = (width - left - right) / (ticks.at(-1) ?? 1)
  const at = (value: number) => left + value * scale
  const bottom = top + bars.length * rowHeight
  const grid = ticks.flatMap((tick) => [
    line([at(tick), top, at(tick), bottom], faint),
    text(at(tick), bottom + 18, grouped(tick)),
  ])
  const rows = bars.flatMap(({ label, value, range: [least, greatest] = [value, value] }, index) => {
    const middle = top + (index + 0.5) * rowHeight
    return [
      text(left - 10, middle + 4, label, 'end'),
      `<rect x="${left}" y="${middle - barHeight / 2}" width="${short(value * scale)}" height="${barHeight}" fill="${colours[0]}"/>`,
      line([at(least), middle, at(greatest), middle], ink),
      text(at(Math.max(value, greatest)) + 6, middle + 4, grouped(Math.round(value)), 'start'),
    ]
  })
  const goal = target && [
    line([at(target.value), top - 8, at(target.value), bottom], ink, 'stroke-dasharray="5 4"'),
    text(at(target.value), top - 12, target.label),
  ]
  const caption = text((left + width - right) / 2, bottom + 40, axis)
  return svg(title, bottom + 56, [...grid, ...rows, ...(goal ?? []), caption])
}

export interface LineChart {
  readonly title: string
  /** What the axes show, with their units. */
  readonly axes: { readonly x: string; readonly y: string }
  /** The x axis: logarithmic for the few values above 0 that it names, or linear from 0, for many points. */
  readonly x?: 'logarithmic' | 'linear'
  readonly series: readonly {
    readonly name: string
    readonly points: readonly { readonly x: number; readonly y: number }[]
  }[]
}

/** Lines over x and a y from zero, as SVG, with their names on the right. */
export function lineChart({ title, axes, x: kind = 'logarithmic', series }: LineChart): string {
  const [height, left, right, top, bottom] = [380, 80, width - 150, 50, 310]
  const points = series.flatMap((one) => one.points)
  const { marks, share } = (kind === 'linear' ? linearAxis : logarithmicAxis)(points.map(({ x }) => x))
  const ticks = ticksTo(Math.max(...points.map(({ y }) => y)))
  const atX = (x: number) => short(left + share(x) * (right - left))
  const atY = (y: number) => short(bottom - (y / (ticks.at(-1) ?? 1)) * (bottom - top))
  const grid = ticks.flatMap((tick) => [
    line([left, atY(tick), right, atY(tick)], faint),
    text(left - 8, atY(tick) + 4, grouped(tick), 'end'),
  ])
  const lines = series.flatMap(({ name, points }, index) => {
    const colour = colours[index % colours.length]
    const dot = (x: number, y: number) => `<circle cx="${x}" cy="${y}" r="4" fill="${colour}"/>`
    const places = points.map(({ x, y }) => `${atX(x)},${atY(y)}`)
    const nameY = top + 18 * index
    return [
      `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...(kind === 'linear' ? [] : points.map(({ x, y }) => dot(atX(x), atY(y)))),
      dot(right + 16, nameY),
      text(right + 26, nameY + 4, name, 'start'),
    ]
  })
  const captions = [
    ...marks.map((x) => text(atX(x), bottom + 20, grouped(x))),
    text((left + right) / 2, bottom + 48, axes.x),
    text(24, (top + bottom) / 2, axes.y, 'middle', `transform="rotate(-90 24 ${(top + bottom) / 2})"`),
  ]
  return svg(title, height, [...grid, ...lines, ...captions])
}

interface XAxis {
  /** Values that are named. */
  readonly marks: readonly number[]
  /** How far along the axis a value lies, from 0 to 1. */
  readonly share: (x: number) => number
}

function logarithmicAxis(values: readonly number[]): XAxis {
  const marks = [...new Set(values)].toSorted((a, b) => a - b)
  const first = Math.log10(marks[0] ?? 1)
  const decades = Math.log10(marks.at(-1) ?? 1) - first || 1
  return { marks, share: (x) => (Math.log10(x) - first) / decades }
}

function linearAxis(values: readonly number[]): XAxis {
  const end = values.reduce((highest, value) => Math.max(highest, value), 0)
  return { marks: ticksTo(end).filter((mark) => mark <= end), share: (x) => x / end }
}

/** The common part of all charts: a background of its own, so that it is legible on any page, and a title. */
function svg(title: string, height: number, content: readonly string[]): string {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="sans-serif" font-size="13" fill="${ink}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="6" fill="#ffffff"/>`,
    text(width / 2, 26, title, 'middle', 'font-weight="bold"'),
    ...content,
    '</svg>',
  ].join('\n')}\n`
}

type Anchor = 'start' | 'middle' | 'end'

function text(x: number, y: number, content: string, anchor: Anchor = 'middle', attributes = ''): string {
  return `<text x="${short(x)}" y="${short(y)}" text-anchor="${anchor}" ${attributes}>${escaped(content)}</text>`
}

type Ends = readonly [x1: number, y1: number, x2: number, y2: number]

function line(ends: Ends, colour: string, attributes = ''): string {
  const [x1, y1, x2, y2] = ends.map(short)
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${colour}" ${attributes}/>`
}

/** Round numbers from 0 to `highest` or just above, at most six. */
export function ticksTo(highest: number): number[] {
  const rough = highest / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  const count = Math.ceil(highest / step - 1e-9) + 1
  return Array.from({ length: count }, (_, index) => Number((index * step).toPrecision(12)))
}

function grouped(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

/** For coordinates: more digits would not be visible. */
function short(number: number): number {
  return Math.round(number * 10) / 10
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
