import { describe, expect, it } from 'vitest'
import { barChart, lineChart, ticksTo } from '../../bench/charts.ts'

const attributes = (svg: string, element: string, name: string) =>
  [...svg.matchAll(new RegExp(`<${element} [^>]*\\b${name}="([^"]*)"`, 'g'))].map(([, value]) => value)

describe('a chart', () => {
  it.each([
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0.23, [0, 0.05, 0.1, 0.15, 0.2, 0.25]],
    [420, [0, 100, 200, 300, 400, 500]],
    [400_000, [0, 100_000, 200_000, 300_000, 400_000]],
  ])('has ticks on its axis up to %d', (highest, ticks) => {
    expect(ticksTo(highest)).toEqual(ticks)
  })

  it('of bars has them as long as their values, names them, and escapes what would be markup', () => {
    const bars = [
      { label: 'half', value: 50 },
      { label: 'whole', value: 100, range: [90, 110] as const },
    ]
    const svg = barChart({
      title: 'a < b & c',
      axis: 'events a second',
      bars,
      target: { label: 'at least', value: 80 },
    })
    const [, half = 0, whole = 0] = attributes(svg, 'rect', 'width').map(Number)
    expect(whole).toBeCloseTo(2 * half, 0)
    for (const text of ['a &lt; b &amp; c', 'events a second', 'half', 'whole', '100', 'at least']) {
      expect(svg).toContain(`>${text}</text>`)
    }
  })

  it('of lines has a logarithmic x, a decade as wide as any other, and what is higher above, from zero', () => {
    const xs = [1000, 10_000, 1_000_000]
    const series = [
      { name: 'flat', points: xs.map((x) => ({ x, y: 2 })) },
      { name: 'rising', points: xs.map((x, y) => ({ x, y })) },
    ]
    const svg = lineChart({ title: 'Latency', axes: { x: 'pets', y: 'ms' }, series })
    const [flat = [], rising = []] = attributes(svg, 'polyline', 'points').map((points) =>
      (points ?? '').split(' ').map((point) => point.split(',').map(Number)),
    )
    const [first = 0, second = 0, third = 0] = flat.map(([x]) => x)
    expect(third - second).toBeCloseTo(2 * (second - first), 0)
    const [low = 0, middle = 0, high = 0] = rising.map(([, y]) => y)
    expect(middle - low).toBeCloseTo(high - middle, 0)
    expect(high).toBeLessThan(low)
    for (const { name } of series) expect(svg).toContain(`>${name}</text>`)
  })

  it('of lines may have a linear x from zero, without a dot for each of its many points', () => {
    const points = [15, 30, 60].map((x) => ({ x, y: 1 }))
    const svg = lineChart({
      title: 'Memory',
      axes: { x: 'minutes', y: 'MiB' },
      x: 'linear',
      series: [{ name: 'one', points }],
    })
    const [line = ''] = attributes(svg, 'polyline', 'points')
    const [first = 0, second = 0, third = 0] = (line ?? '').split(' ').map((point) => Number(point.split(',')[0]))
    expect(third - second).toBeCloseTo(2 * (second - first), 0)
    expect(attributes(svg, 'circle', 'cx')).toHaveLength(1) // beside the name
    for (const mark of ['0', '20', '40', '60']) expect(svg).toContain(`>${mark}</text>`)
  })
})
