import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from 'typebox'
import type { AnyEvent, EventType, ExamplePlace } from '../door/stream.ts'
import { exactJson, parseExactJson } from '../lib/values/exact-json.ts'
import { compileCheck } from '../lib/values/validation.ts'
import { type DataReader, quickReader } from './quick-reader.ts'

/** One version of an event: what the log may have under its type. */
export interface EventVersion<Event = AnyEvent> {
  /** The name of the event. */
  readonly event: string
  readonly version: number
  /** The CloudEvents type. */
  readonly type: string
  /** What documents call it: the first version has the name of the event. */
  readonly name: string
  readonly description: string
  readonly data: TSchema
  /** Whether it may stand under an Idempotency-Key. */
  readonly isKeyed: boolean
  /** Whether an early release wrote it without `streamversion`. */
  readonly isUnversioned: boolean
  /** Each with its data as JSON text. */
  readonly examples: readonly (ExamplePlace & { readonly json: string })[]
  /** The event in data of this version. Throws an Error with the reason where there is none. */
  read(data: unknown): Event
  /** The event in data that `quick` read. Throws as `read` does. */
  readChecked(data: unknown): Event
  /** Only for speed: data of this version, which its schema accepts. */
  readonly quick: DataReader
}

/** Data of an event as JSON text, in one version. */
export interface Writing {
  readonly version: number
  readonly json: string
}

/** The CloudEvents type. */
export function typeOf(service: string, event: string, version: number): string {
  return `${service}.${event}.v${version}`
}

/** All versions of an event that this release reads, in ascending order. */
export function versionsOf<Event extends AnyEvent>(
  service: string,
  event: string,
  known: EventType<Event>,
): readonly EventVersion<Event>[] {
  const { version: newest, description, data, isUnversioned, earlier = {} } = known
  const examples = known.examples.map(({ event: of, ...place }) => ({ ...place, json: newestJson(known, of) }))
  const earlierOnes = Object.entries(earlier).map(([version, each]) => ({
    ...{ version: Number(version), data: each.data },
    examples: each.examples.map(({ data: of, ...place }) => ({ ...place, json: exactJson(of) })),
  }))
  const all = [...earlierOnes, { version: newest, data, examples }]
  const isKeyed = all.some((each) => each.examples.some((example) => example.isKeyed))
  return all.map(({ version, ...each }) => ({
    ...{ event, version, description, isKeyed, isUnversioned: version === 1 && isUnversioned === true, ...each },
    type: typeOf(service, event, version),
    name: version === 1 ? event : `${event}V${version}`,
    ...readersOf(event, known, version),
    quick: quickReader(each.data),
  }))
}

/** What reads data of one version. */
function readersOf<Event extends AnyEvent>(
  event: string,
  known: EventType<Event>,
  from: number,
): Pick<EventVersion<Event>, 'read' | 'readChecked'> {
  const { version: newest, earlier = {} } = known
  const own = earlier[from]?.data ?? known.data
  const check = compileCheck(own)
  const checkNewest = compileCheck(known.data)
  const upcasts = Object.entries(earlier).flatMap(([version, { upcast }]) =>
    Number(version) < from ? [] : (upcast ?? []),
  )
  const isAsNewest = upcasts.length === 0 && hasAllMembers(known.data, own)
  const upcast = (found: unknown) => {
    const data = upcasts.reduce((each, next) => next(each), found)
    if (from < newest) refuse(checkNewest(data))
    return data
  }
  const eventOf = (data: unknown) => known.read?.(data) ?? ({ type: event, ...(data as object) } as AnyEvent as Event)
  return {
    read(found) {
      refuse(check(found))
      return eventOf(upcast(found))
    },
    readChecked: (found) => eventOf(isAsNewest ? found : upcast(found)),
  }
}

interface Constraints {
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, TSchema>>
}

/** Whether the schema accepts what has the members of the other one, and no more: it adds optional ones alone. */
function hasAllMembers(schema: TSchema, other: TSchema): boolean {
  const { title: _, description: __, properties: all = {}, ...rest } = schema as TSchema & Constraints
  const { title: ___, description: ____, properties = {}, ...otherRest } = other as TSchema & Constraints
  return (
    isDeepStrictEqual({ ...rest }, { ...otherRest }) &&
    Object.entries(properties).every(([name, member]) => isDeepStrictEqual(member, all[name]))
  )
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new Error(problem)
}

/** The event in each version that says all of it, in descending order from the newest. */
export function writingsOf<Event extends AnyEvent>(known: EventType<Event>, event: Event): readonly Writing[] {
  const { version: newest, earlier = {} } = known
  const json = newestJson(known, event)
  const writings: Writing[] = [{ version: newest, json }]
  let data: unknown
  for (let version = newest - 1; earlier[version]?.downcast !== undefined; version--) {
    data ??= parseExactJson(json)
    const lower = earlier[version]?.downcast?.(data)
    if (lower === undefined) break
    writings.push({ version, json: lower === data ? (writings.at(-1)?.json ?? json) : exactJson(lower) })
    data = lower
  }
  return writings
}

function newestJson<Event extends AnyEvent>(known: EventType<Event>, event: Event): string {
  if (known.write !== undefined) return known.write(event)
  const { type: _, ...data } = event
  return exactJson(data)
}
