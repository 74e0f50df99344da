import type { AnyEvent, EventType } from '../door/stream.ts'
import type { Definition } from './definition.ts'
import { discardedName } from './discarded.ts'
import { typeOf } from './event-versions.ts'
import { severalName } from './several.ts'
import { listed } from './words.ts'

/** For who reads the journal. Word for word as in docs/journal.md; a test holds the two together. */
export function ruleForConsumers({ service: { name, streams } }: Definition): string {
  const types = streams.flatMap(({ events }) => Object.entries<EventType<AnyEvent>>(events))
  const unversioned = types.flatMap(([type, { isUnversioned }]) => (isUnversioned ? `\`${type}\`` : []))
  const early =
    unversioned.length === 0
      ? ''
      : ` Treat a ${listed(unversioned, 'or')} without \`streamversion\` as version 1; earlier releases wrote none.`
  return `
Read each partition in order, with the isolation level \`read_committed\`: other programs may write in transactions, and what they
abort never happened. For each record key, remember the last version that you counted (0 before its first event).

1. **Ignore** a record that is not an event of a stream:
   - its value is longer than 16 KiB or is not a CloudEvent,
   - its key differs from its \`subject\`, or has more than 128 bytes,
   - it is not in the partition that the default partitioner chooses for its key,${noStream(streams)}
   - its type does not begin with \`${name}.\`, or is \`${discardedName}\`.
2. **Ignore** an event whose \`streamversion\` is not exactly one above the last version counted for its record key: a competing
   event came first.${early}
3. **Ignore** a duplicate, and do *not* count it: the version of its stream stays as it was. There are two kinds:
   - an event whose \`idempotencykey\` was already counted in this partition, under any record key,
   - an event that you would apply, but that creates something under an id which is taken.
4. **Count** every other event: remember its version for the record key, and its \`idempotencykey\` for the partition. Also count
   events whose type or version you do not know, or every later event of the stream will look superseded.
5. **Apply** an event that you counted, if you know its type. If you cannot read it, or if it contradicts what came before, do not
   apply it. It stays counted. The service parks such an event.

A record of the type \`${typeOf(name, severalName, 1)}\` has several events of one command in \`data.events\`, each with an \`id\`, a \`type\` and \`data\` of
its own. For these steps it is one event: apply all of them in their order, or none if one cannot be read or applied.
`.trim()
}

/** Keys that no release gives to a stream: those of the first kind are bare ids. */
function noStream([first, ...others]: Definition['service']['streams']): string {
  if (first === undefined || others.length === 0) return ''
  const named = listed(
    others.map(({ collection }) => `\`${collection}/\``),
    'or',
  )
  return `\n   - its key begins with \`${first.collection}/\`, or with ${named} and has no id behind it,`
}
