import fc from 'fast-check'

const pieces = ['', ...'"{}, \\\n\u0000é0-', '\\u0041', '.5', 'e2', '9007199254740993']

/** The texts, of JSON, with up to two small edits anywhere. Some put one of `more` in. */
export function edited(texts: fc.Arbitrary<string>, more: readonly string[] = []): fc.Arbitrary<string> {
  const edit = fc.record({ at: fc.nat(), length: fc.nat(3), piece: fc.constantFrom(...pieces, ...more) })
  return fc
    .tuple(texts, fc.array(edit, { maxLength: 2 }))
    .map(([text, edits]) => edits.reduce(apply, text).toWellFormed())
}

function apply(text: string, { at, length, piece }: { at: number; length: number; piece: string }): string {
  const start = at % (text.length + 1)
  return text.slice(0, start) + piece + text.slice(start + length)
}
