import { describe, expect, it } from 'vitest'
import { barChart } from '../../bench/chart/bar-chart.ts'
import { ticksTo } from '../../bench/chart/frame.ts'
import { lineChart } from '../../bench/chart/line-chart.ts'

const attributes = (svg: string, element: string, name: string) =>
  [...svg.matchAll(new RegExp(`<${element} [^>]*\\b${name}="([^"]*)"`, 'g'))].map(([, value]) => value)

describe('the ticks of an axis', () => {
  it.each([
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0.23, [0, 0.05, 0.1, 0.15, 0.2, 0.25]],
    [420, [0, 100, 200, 300, 400, 500]],
    [400_000, [0, 100_000, 200_000, 300_000, 400_000]],
  ])('up to %d', (highest, ticks) => {
    expect(ticksTo(highest)).toEqual(ticks)
  })
})

describe('a bar chart', () => {
  const bars = [
    { label: 'half', value: 50 },
    { label: 'whole', value: 100, range: [90, 110] as const },
  ]

  it('has bars as long as their values', () => {
    const [, half, whole] = attributes(barChart({ title: '', axis: '', bars }), 'rect', 'width').map(Number)
    expect(whole).toBeCloseTo(2 * (half ?? 0), 0)
  })

  it('names its bars and the axis, and has a title', () => {
    const svg = barChart({ title: 'Rates', axis: 'events a second', bars, target: { label: 'at least', value: 80 } })
    for (const text of ['Rates', 'events a second', 'half', 'whole', '100', 'at least']) {
      expect(svg).toContain(`>${text}</text>`)
    }
  })

  it('escapes what would be markup', () => {
    expect(barChart({ title: 'a < b & c', axis: '', bars })).toContain('<title>a &lt; b &amp; c</title>')
  })
})

describe('a line chart', () => {
  const series = [
    { name: 'flat', points: [1000, 10_000, 1_000_000].map((x) => ({ x, y: 2 })) },
    { name: 'rising', points: [1000, 10_000, 1_000_000].map((x, y) => ({ x, y })) },
  ]
  const svg = lineChart({ title: 'Latency', axes: { x: 'pets', y: 'ms' }, series })
  const [flat = [], rising = []] = attributes(svg, 'polyline', 'points').map((points) =>
    (points ?? '').split(' ').map((point) => point.split(',').map(Number)),
  )

  it('has a logarithmic x: a decade is as wide as any other', () => {
    const [first = 0, second = 0, third = 0] = flat.map(([x]) => x)
    expect(third - second).toBeCloseTo(2 * (second - first), 0)
  })

  it('has what is higher above, from zero', () => {
    const [low = 0, middle = 0, high = 0] = rising.map(([, y]) => y)
    expect(middle - low).toBeCloseTo(high - middle, 0)
    expect(high).toBeLessThan(low)
  })

  it('keeps names apart whose lines end at one place', () => {
    const ends = lineChart({
      title: '',
      axes: { x: '', y: '' },
      series: series.map(({ name }) => ({ name, points: [{ x: 10, y: 2 }] })),
    })
    const [one = 0, other = 0] = [...ends.matchAll(/y="([\d.]+)"[^>]*>(?:flat|rising)</g)].map(([, y]) => Number(y))
    expect(other - one).toBeGreaterThanOrEqual(13)
  })
})
