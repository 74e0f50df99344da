/**
 * Makes copies of what JSON Schemas are in, which refer to every named one under `#/components/schemas`, but for the
 * copied one itself. Two schemas with the same text are one.
 */
export function referringTo(named: Readonly<Record<string, object>>): (whole: object) => object {
  const nameByText = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))
  return (whole) => {
    const text = JSON.stringify(whole, (key, part) => {
      const name = key === '' ? undefined : nameByText.get(JSON.stringify(part))
      return name === undefined ? part : { $ref: `#/components/schemas/${name}` }
    })
    return JSON.parse(text)
  }
}

/** The title of a schema, which is its name in documents; '' if it has none. */
export function titleOf(schema: object): string {
  return 'title' in schema ? String(schema.title) : ''
}

/** Schemas in which others cannot be, but values that may look like some. */
const valueKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples'])

/** Every schema in these whose title is a name, by its title. */
export function titledIn<Schema extends object>(wholes: readonly unknown[]): Record<string, Schema> {
  const titled: Record<string, Schema> = {}
  function collect(part: unknown): void {
    if (typeof part !== 'object' || part === null) return
    if ('title' in part && typeof part.title === 'string' && /^\w+$/.test(part.title))
      titled[part.title] = part as Schema
    for (const [keyword, each] of Object.entries(part)) if (!valueKeywords.has(keyword)) collect(each)
  }
  for (const whole of wholes) collect(whole)
  return titled
}
