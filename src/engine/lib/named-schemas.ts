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
