import fc from 'fast-check'
import { seats } from '../theatre/seat-words.ts'
import { type AnyRecord, altered, keyed, record } from './records.ts'

/** What a service calls its events, and what may follow in its streams, which are about things with a change under way. */
export interface Words {
  added(thing: { readonly id: number; readonly name: string }, context: Context): AnyRecord
  /** The first change begins one, the second goes on with it, the others end it. */
  changed(type: number, id: number, changeId: number, context: Context): AnyRecord
  /** The thing itself is another one from now on; undefined if the service has no such event. */
  renamed?(thing: { readonly id: number; readonly name: string; readonly isFree: boolean }, context: Context): AnyRecord
  removed(id: number, context: Context): AnyRecord
  /** One record of these; undefined if the service has no such records. */
  several?(records: readonly AnyRecord[], attributes: Record<string, unknown>): AnyRecord
  newer(stream: string, version: unknown, attributes: Record<string, unknown>): AnyRecord
  discard(stream: string, offset: number): AnyRecord
  newConsumer(): Consumer
}
export interface Context extends Partial<ReturnType<typeof keyed>> {
  readonly version: number
  readonly time: string
}

/** Folds a log, and leaves out what cannot be applied. */
export interface Consumer {
  read(record: AnyRecord): void
  versionOf(stream: string): number
  /** Whether a change of it may begin; undefined if there is no such thing. */
  isFree(id: number): boolean | undefined
  changeOf(id: number): number | undefined
  /** The events that were counted and left without effect. */
  readonly unread: readonly { readonly stream: string; readonly offset: number }[]
}

/** What is drawn of one record: it makes sense only where it will stand. */
const anyDraw = fc.record({
  kind: fc.constantFrom(
    ...Array<'change'>(10).fill('change'),
    ...Array<'thing'>(5).fill('thing'),
    ...Array<'discard'>(5).fill('discard'),
    ...Array<'renamed'>(3).fill('renamed'),
    ...Array<'several'>(4).fill('several'),
    ...(['removed', 'newer', 'unreadable', 'skipped', 'again'] as const),
  ),
  stream: fc.integer({ min: 1, max: 4 }),
  /** Added to the next version: rivals and gaps. */
  off: fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1, -2),
  key: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 3 }),
  choice: fc.nat(1000),
})
type Draw = typeof anyDraw extends fc.Arbitrary<infer T> ? T : never

/**
 * A log with everything in it: rivals, gaps, duplicates, several events at once, unreadable and newer ones, discards of what
 * is parked and of what is not. `isSound`: no key and no id of a change is used for two streams, but for keys of first events: what became of another
 * stream meanwhile then makes no difference to an event that was parked behind another one.
 */
export function anyLog({ isSound, words = seats }: { isSound: boolean; words?: Words }): fc.Arbitrary<AnyRecord[]> {
  return fc.array(anyDraw, { maxLength: 40, size: 'max' }).map((draws) => {
    const consumer = words.newConsumer()
    const log: AnyRecord[] = []
    for (const draw of draws) {
      const next = recordOf(draw, log, consumer, isSound, words)
      consumer.read(next)
      log.push(next)
    }
    return log
  })
}

function recordOf(
  draw: Draw,
  log: readonly AnyRecord[],
  consumer: Consumer,
  isSound: boolean,
  words: Words,
): AnyRecord {
  const { stream, off, key, choice } = draw
  // Before its first event most of a stream would be parked.
  const isChange = draw.kind === 'change' || draw.kind === 'several'
  const kind = isChange && consumer.isFree(stream) === undefined && choice % 5 > 0 ? 'thing' : draw.kind
  const version = consumer.versionOf(String(stream)) + 1 + off
  const isShared = !isSound || (kind === 'thing' && version === 1)
  const identity: Partial<ReturnType<typeof keyed>> =
    key === null ? {} : keyed(isShared ? `key ${key}` : `key ${stream}/${key}`)
  const context = { version, time: new Date(Date.UTC(2026, 10, 20, 9, choice % 60)).toISOString(), ...identity }
  const thing = { id: stream, name: `thing ${choice % 3}` }
  switch (kind) {
    case 'thing':
      return words.added(thing, context)
    case 'renamed': {
      const isFree = choice % 6 === 0 ? choice % 4 === 0 : (consumer.isFree(stream) ?? true)
      return words.renamed?.({ ...thing, isFree }, context) ?? words.removed(stream, context)
    }
    case 'removed':
      return words.removed(stream, context)
    case 'change':
      return words.changed(...anyChange(choice, consumer, stream, isSound), context)
    case 'several': {
      const events = anyChanges(choice, log, stream, isSound, words)
      const { key: idempotencykey, fingerprint: requestfingerprint } = identity.idempotency ?? {}
      const attributes = { streamversion: version, idempotencykey, requestfingerprint }
      return (
        words.several?.(events, attributes) ?? words.changed(...anyChange(choice, consumer, stream, isSound), context)
      )
    }
    case 'newer':
      return words.newer(
        String(stream),
        version,
        identity.idempotency ? { idempotencykey: identity.idempotency.key } : {},
      )
    case 'unreadable':
      return altered(words.added(thing, context), { data: { id: stream } })
    case 'discard': {
      const target = consumer.unread[choice % (consumer.unread.length + 1)]
      return target === undefined
        ? words.discard(String(stream), choice % 30)
        : words.discard(target.stream, target.offset)
    }
    case 'again':
      return log[choice % (log.length + 1)] ?? record(null)
    case 'skipped':
      return [record('garbage', '1'), altered(words.added(thing, context), {}, '9')][choice % 2] ?? record(null)
  }
}

/** Two to four changes of a thing, one after the other. */
export function anyChanges(
  choice: number,
  log: readonly AnyRecord[],
  thing: number,
  isSound: boolean,
  words: Words = seats,
): AnyRecord[] {
  const ahead = words.newConsumer()
  for (const each of log) ahead.read(each)
  const time = new Date(Date.UTC(2026, 10, 20, 9, choice % 60)).toISOString()
  return Array.from({ length: 2 + (choice % 3) }, (_, i) => {
    const change = anyChange(Math.floor(choice / (i + 1)) + i, ahead, thing, isSound)
    const event = words.changed(...change, { version: ahead.versionOf(String(thing)) + 1, time })
    ahead.read(event)
    return event
  })
}

/** Mostly what the thing allows. */
function anyChange(choice: number, consumer: Consumer, thing: number, isSound: boolean): [number, number, number] {
  const open = consumer.changeOf(thing)
  const anyId = isSound ? thing * 100 + (choice % 3) : 100 + (choice % 8)
  if (choice % 7 === 0) return [choice % 4, thing, anyId]
  if (open !== undefined) return [1 + (choice % 3), thing, open]
  return [consumer.isFree(thing) ? 0 : choice % 4, thing, anyId]
}
