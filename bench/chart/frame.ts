/** What every chart has: its size, a background of its own, so that it is legible on any page, and a title. */
export const width = 720

const ink = '#24292f'
const faint = '#d0d7de'
/** Told apart by those who see colours otherwise, too (Okabe and Ito). */
export const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'] as const

export function svg(title: string, height: number, content: readonly string[]): string {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="sans-serif" font-size="13" fill="${ink}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="6" fill="#ffffff"/>`,
    text(width / 2, 26, title, { anchor: 'middle', bold: true }),
    ...content,
    '</svg>',
  ].join('\n')}\n`
}

interface TextStyle {
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly bold?: boolean
  /** Read from bottom to top. */
  readonly upwards?: boolean
}

export function text(x: number, y: number, content: string, { anchor = 'start', bold, upwards }: TextStyle): string {
  const weight = bold ? ' font-weight="bold"' : ''
  const turn = upwards ? ` transform="rotate(-90 ${short(x)} ${short(y)})"` : ''
  return `<text x="${short(x)}" y="${short(y)}" text-anchor="${anchor}"${weight}${turn}>${escaped(content)}</text>`
}

type Ends = readonly [x1: number, y1: number, x2: number, y2: number]

export function line([x1, y1, x2, y2]: Ends, colour: 'ink' | 'faint', dashes = ''): string {
  const dashed = dashes === '' ? '' : ` stroke-dasharray="${dashes}"`
  const stroke = colour === 'ink' ? ink : faint
  return `<line x1="${short(x1)}" y1="${short(y1)}" x2="${short(x2)}" y2="${short(y2)}" stroke="${stroke}"${dashed}/>`
}

/** Round numbers from 0 to `highest` or just above, at most six. */
export function ticksTo(highest: number): number[] {
  const rough = highest / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power
  return Array.from({ length: Math.ceil(highest / step - 1e-9) + 1 }, (_, index) =>
    Number((index * step).toPrecision(12)),
  )
}

export function grouped(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 3 })
}

/** For coordinates: more digits would not be seen. */
export function short(number: number): number {
  return Math.round(number * 10) / 10
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
