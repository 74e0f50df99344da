import type { TSchema } from 'typebox'
import { formats } from '../lib/values/formats.ts'

/**
 * The object in JSON text, if the schema accepts it and the text is plain: all members in the order of the schema, without
 * white space, escapes, or numbers that could be rounded. Undefined for any other text, which may be just as valid.
 */
export type DataReader = (json: string) => object | undefined

const readsNothing: DataReader = () => undefined

/** Made of the schema when it is first used, only for speed. It reads flat members of the kinds below. */
export function quickReader(schema: TSchema): DataReader {
  let reader: DataReader | undefined
  return (json) => {
    reader ??= compile(schema) ?? readsNothing
    return reader(json)
  }
}

function compile(schema: TSchema): DataReader | undefined {
  const { type, properties = {}, required = [], ...others } = schema as TSchema & ObjectKeywords
  if (type !== 'object' || !hasOnly(others, ['additionalProperties'])) return undefined
  const members: Member[] = []
  for (const [name, of] of Object.entries(properties)) {
    const kind = kindOf(of)
    // Every object seems to have a member like toString: the check finds it where there is none.
    if (kind === undefined || name in {}) return undefined
    members.push({ ...kind, name, isRequired: required.includes(name) })
  }
  if (!members[0]?.isRequired || !required.every((name) => Object.hasOwn(properties, name))) return undefined
  const form = new RegExp(String.raw`^\{${members.map(formOf).join('')}\}$`)
  const make = maker(members)
  return (json) => {
    const match = form.exec(json)
    return match === null ? undefined : make(match)
  }
}

interface ObjectKeywords {
  readonly type?: unknown
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

interface Kind {
  /** Its text in JSON, with one group. */
  readonly form: string
  /** What the group says; undefined if the schema refuses it. */
  read(text: string): unknown
}

interface Member extends Kind {
  readonly name: string
  readonly isRequired: boolean
}

function formOf({ name, isRequired, form }: Member, index: number): string {
  const text = `${index === 0 ? '' : ','}${RegExp.escape(JSON.stringify(name))}:${form}`
  return isRequired ? text : `(?:${text})?`
}

/** Makes the object of what was matched, by code as ajv makes it of a schema: a loop takes twice as long. */
function maker(members: readonly Member[]): (match: RegExpExecArray) => object | undefined {
  const reads = members.map(
    (_, i) => `const v${i} = match[${i + 1}] === undefined ? undefined : read[${i}](match[${i + 1}])
    if (v${i} === undefined && match[${i + 1}] !== undefined) return undefined`,
  )
  // Members come in the order of the text, as they do where JSON is parsed.
  const optional = members.findIndex(({ isRequired }) => !isRequired)
  const always = members.slice(0, optional === -1 ? members.length : optional)
  const literal = always.map(({ name }, i) => `${JSON.stringify(name)}: v${i}`)
  const more = members.slice(always.length).map(({ name }, i) => {
    const value = `v${always.length + i}`
    return `if (${value} !== undefined) data[${JSON.stringify(name)}] = ${value}`
  })
  const body = [...reads, `const data = { ${literal.join(', ')} }`, ...more, 'return data'].join('\n')
  return new Function('read', `return (match) => { ${body} }`)(members.map(({ read }) => read))
}

function kindOf(schema: TSchema): Kind | undefined {
  const { type, ...keywords } = schema as TSchema & { readonly type?: unknown }
  if ('enum' in keywords) return type === 'string' ? choice(keywords) : undefined
  if (type === 'integer') return integer(keywords)
  if (type === 'string') return string(keywords)
  return type === 'boolean' && hasOnly(keywords, []) ? boolean : undefined
}

const boolean: Kind = { form: '(true|false)', read: (text) => text === 'true' }

/** Each is one code point, and stands for itself in JSON. */
const plainCharacter = String.raw`[ !#-[\]-\ud7ff\ue000-\uffff]`
const isPlain = new RegExp(`^${plainCharacter}*$`)

function choice(keywords: { readonly enum?: unknown }): Kind | undefined {
  const values = keywords.enum as readonly unknown[]
  if (!hasOnly(keywords, ['enum']) || !values.every((each) => typeof each === 'string' && isPlain.test(each)))
    return undefined
  return { form: `"(${values.map((each) => RegExp.escape(String(each))).join('|')})"`, read: (text) => text }
}

interface IntegerKeywords {
  readonly format?: unknown
  readonly minimum?: number
  readonly maximum?: number
}

/** It has at most 15 digits, which a number keeps. */
function integer(keywords: IntegerKeywords): Kind | undefined {
  const { format = 'int64', minimum = -Infinity, maximum = Infinity } = keywords
  if (!hasOnly(keywords, ['format', 'minimum', 'maximum']) || format !== 'int64') return undefined
  return {
    form: String.raw`(0|-?[1-9]\d{0,14})`,
    read(text) {
      const value = Number(text)
      return value >= minimum && value <= maximum ? value : undefined
    },
  }
}

interface StringKeywords {
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
}

function string(keywords: StringKeywords): Kind | undefined {
  const { format, pattern, minLength = 0, maxLength = Infinity } = keywords
  if (!hasOnly(keywords, ['format', 'pattern', 'minLength', 'maxLength'])) return undefined
  const known = format === undefined ? undefined : formats[format]
  if (format !== undefined && known === undefined) return undefined
  const matches = pattern === undefined ? undefined : new RegExp(pattern, 'u') // as ajv has it
  return {
    form: `"(${plainCharacter}*)"`,
    read(text) {
      if (text.length < minLength || text.length > maxLength) return undefined
      return (matches?.test(text) ?? true) && (known?.check(text) ?? true) ? text : undefined
    },
  }
}

/** They accept every value. */
const annotations = ['title', 'description', 'examples', 'default', 'x-rule', 'x-stability']

function hasOnly(keywords: object, known: readonly string[]): boolean {
  return Object.keys(keywords).every((keyword) => known.includes(keyword) || annotations.includes(keyword))
}
