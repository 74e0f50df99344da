import { colours, grouped, line, short, svg, text, ticksTo, width } from './frame.ts'

export interface LineChart {
  readonly title: string
  /** What the axes show, with their units. */
  readonly axes: { readonly x: string; readonly y: string }
  /** Values of x are above 0: their axis is logarithmic. */
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[]
}

export interface Point {
  readonly x: number
  readonly y: number
}

const height = 380
const left = 80
const right = 150
const top = 50
const bottom = height - 70

/** Lines over a logarithmic x and a y from zero, as SVG. Each line has its name at its end. */
export function lineChart({ title, axes, series }: LineChart): string {
  const points = series.flatMap((one) => one.points)
  const xs = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b)
  const ticks = ticksTo(Math.max(...points.map(({ y }) => y)))
  const first = Math.log10(xs[0] ?? 1)
  const decades = Math.log10(xs.at(-1) ?? 1) - first
  const atX = (x: number) => left + (decades === 0 ? 0.5 : (Math.log10(x) - first) / decades) * (width - left - right)
  const atY = (y: number) => bottom - (y / (ticks.at(-1) ?? 1)) * (bottom - top)
  const grid = [
    ...ticks.flatMap((tick) => [
      line([left, atY(tick), width - right, atY(tick)], 'faint'),
      text(left - 8, atY(tick) + 4, grouped(tick), { anchor: 'end' }),
    ]),
    ...xs.map((x) => text(atX(x), bottom + 20, grouped(x), { anchor: 'middle' })),
  ]
  const nameYs = apart(series.map((one) => atY(one.points.at(-1)?.y ?? 0)))
  const lines = series.flatMap(({ name, points }, index) => {
    const colour = colours[index % colours.length]
    const places = points.map(({ x, y }) => `${short(atX(x))},${short(atY(y))}`)
    const dots = points.map(
      ({ x, y }) => `<circle cx="${short(atX(x))}" cy="${short(atY(y))}" r="4" fill="${colour}"/>`,
    )
    const nameY = nameYs[index] ?? 0
    return [
      `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      `<circle cx="${width - right + 16}" cy="${short(nameY)}" r="4" fill="${colour}"/>`,
      text(width - right + 26, nameY + 4, name, {}),
    ]
  })
  const captions = [
    text(left + (width - left - right) / 2, bottom + 48, axes.x, { anchor: 'middle' }),
    text(24, (top + bottom) / 2, axes.y, { anchor: 'middle', upwards: true }),
  ]
  return svg(title, height, [...grid, ...lines, ...captions])
}

const nameHeight = 18

/** Names one above the other where their lines end close together. */
function apart(ys: readonly number[]): number[] {
  const placed = [...ys]
  const order = ys.map((_, index) => index).toSorted((a, b) => (ys[a] ?? 0) - (ys[b] ?? 0))
  for (const [rank, index] of order.entries()) {
    const above = placed[order[rank - 1] ?? -1] ?? Number.NEGATIVE_INFINITY
    placed[index] = Math.max(placed[index] ?? 0, above + nameHeight)
  }
  return placed
}
