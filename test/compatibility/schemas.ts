import { isDeepStrictEqual } from 'node:util'

/** A JSON Schema without references, as far as the documents of this service use it. */
export type Schema = Readonly<Record<string, unknown>>

/** What those who read values of the published schema cannot rely on any more: each in words, with where it is. */
export function breaksForReaders(published: Schema, current: Schema): string[] {
  return [...findGone(published, current, ''), ...findRefused(current, published, '')]
}

/** What those who write values of the published schema cannot write any more. */
export function breaksForWriters(published: Schema, current: Schema): string[] {
  return findRefused(published, current, '')
}

const annotations = [
  '$schema',
  'title',
  'description',
  'x-rule',
  'x-retryable',
  'examples',
  'example',
  'default',
  'deprecated',
]
const lowest = ['minimum', 'minLength', 'minItems']
const highest = ['maximum', 'maxLength', 'maxItems']
const exact = ['pattern', 'format']
const parts = ['type', 'const', 'enum', 'required', 'properties', 'additionalProperties', 'items']
const compared = new Set([...annotations, ...lowest, ...highest, ...exact, ...parts])

/** What may be as `given` says, and is refused by `wanted`. */
function findRefused(given: Schema, wanted: Schema, path: string): string[] {
  const problems = [
    ...refusedTypes(given, wanted),
    ...refusedValues(given, wanted),
    ...refusedRanges(given, wanted),
    ...exact.filter((word) => word in wanted && !isSame(word, given, wanted)).map((word) => `${word} differs`),
    ...refusedMembers(given, wanted),
    ...incomparable(given, wanted),
  ]
  return [...problems.map((problem) => at(path, problem)), ...refusedWithin(given, wanted, path)]
}

/** Two patterns that match the same texts. */
const samePatterns = ['\\S', '^\\s*\\S']

function isSame(word: string, given: Schema, wanted: Schema): boolean {
  if (given[word] === wanted[word]) return true
  // Within bounds that fit, it tells a program how wide a number can be, and refuses none.
  if (wanted[word] === 'int64') return given.minimum !== undefined && given.maximum !== undefined
  return [given[word], wanted[word]].every((pattern) => samePatterns.includes(String(pattern)))
}

function refusedTypes(given: Schema, wanted: Schema): string[] {
  if (wanted.type === undefined) return []
  const types = typesOf(wanted)
  const isIn = (type: string) => types.includes(type) || (type === 'integer' && types.includes('number'))
  return typesOf(given).flatMap((type) => (isIn(type) ? [] : [`type ${type}`]))
}

function typesOf({ type = 'any' }: Schema): string[] {
  return [type as string | string[]].flat()
}

function refusedValues(given: Schema, wanted: Schema): string[] {
  const values = valuesOf(wanted)
  if (values === undefined) return []
  const refused = valuesOf(given)?.filter((value) => !values.includes(value))
  return refused?.map((value) => `value ${JSON.stringify(value)}`) ?? ['any value']
}

function valuesOf(schema: Schema): readonly unknown[] | undefined {
  return 'const' in schema ? [schema.const] : (schema.enum as unknown[] | undefined)
}

function refusedRanges(given: Schema, wanted: Schema): string[] {
  const bound = (schema: Schema, word: string, otherwise: number) => (schema[word] as number | undefined) ?? otherwise
  const below = (word: string) => bound(given, word, -Infinity) < bound(wanted, word, -Infinity)
  const above = (word: string) => bound(given, word, Infinity) > bound(wanted, word, Infinity)
  return [
    ...lowest.filter(below).map((word) => `less than ${word} ${wanted[word]}`),
    ...highest.filter(above).map((word) => `more than ${word} ${wanted[word]}`),
  ]
}

function refusedMembers(given: Schema, wanted: Schema): string[] {
  const required = (wanted.required ?? []) as string[]
  const absent = required.filter((name) => !((given.required ?? []) as string[]).includes(name))
  const isClosed = wanted.additionalProperties === false
  const unknown = Object.keys(membersOf(given)).filter((name) => isClosed && !(name in membersOf(wanted)))
  return [
    ...absent.map((name) => `without ${name}`),
    ...unknown.map((name) => `with ${name}`),
    ...(isClosed && given.additionalProperties !== false ? ['with properties that are not named'] : []),
  ]
}

function refusedWithin(given: Schema, wanted: Schema, path: string): string[] {
  const others = membersOf(wanted)
  const members = Object.entries(membersOf(given)).flatMap(([name, member]) => {
    const other = others[name]
    return other === undefined ? [] : findRefused(member, other, join(path, name))
  })
  if (!('items' in wanted)) return members
  return [...members, ...findRefused((given.items ?? {}) as Schema, wanted.items as Schema, `${path}[]`)]
}

/** Whoever changes a keyword that is not compared here has to say what that means. */
function incomparable(given: Schema, wanted: Schema): string[] {
  const words = new Set([...Object.keys(given), ...Object.keys(wanted)])
  const differs = (word: string) => !isDeepStrictEqual(given[word], wanted[word])
  return [...words].filter((word) => !compared.has(word) && differs(word)).map((word) => `${word} differs`)
}

function findGone(published: Schema, current: Schema, path: string): string[] {
  const members = Object.entries(membersOf(published)).flatMap(([name, member]) => {
    const now = membersOf(current)[name]
    return now === undefined ? [at(join(path, name), 'gone')] : findGone(member, now, join(path, name))
  })
  if (!('items' in published)) return members
  return [...members, ...findGone(published.items as Schema, (current.items ?? {}) as Schema, `${path}[]`)]
}

function membersOf({ properties = {} }: Schema): Readonly<Record<string, Schema>> {
  return properties as Record<string, Schema>
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function at(path: string, problem: string): string {
  return path === '' ? problem : `${path}: ${problem}`
}
