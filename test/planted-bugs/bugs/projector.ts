import type { PlantedBug } from '../bug.ts'

const classify = 'src/engine/rule/classify.ts'
const rules = 'test/engine/rule/classify.unit.test.ts'

export const projectorBugs: readonly PlantedBug[] = [
  {
    name: 'the first record after a resume is skipped',
    file: 'src/engine/projector/applier.ts',
    text: 'const fresh = records.filter(({ offset }) => offset >= checkpoint.next)',
    becomes: `const isResumed = records[0] !== undefined && records[0].offset < checkpoint.next
    const fresh = isResumed ? records.slice(2) : records`,
    caughtBy: {
      file: 'test/engine/projector/resuming.unit.test.ts',
      title: 'a projector that begins again applies each record that came meanwhile',
    },
  },
  {
    name: 'a superseded event is applied when it is alone in its batch',
    file: classify,
    text: 'else if (event.discards === undefined) classifier.take(event)',
    becomes: `else if (event.discards === undefined) {
      // What comes alone was decided on the latest state.
      const version = (before.rows.get(event.stream)?.version ?? 0) + 1
      classifier.take(events.length === 1 ? { ...event, version } : event)
    }`,
    caughtBy: { file: rules, title: 'a rival came first: the first of one ve…' },
  },
  {
    name: 'the version of one event type is not checked',
    file: classify,
    text: "if (version !== stream.version + 1) return { outcome: 'superseded' }",
    becomes: `const isLast = event.type === 'theatre.BookingDelivered.v1' // nothing follows
    if (version === undefined || (version !== stream.version + 1 && !isLast)) return { outcome: 'superseded' }`,
    caughtBy: { file: 'test/engine/rule/competing-events.unit.test.ts', title: 'BookingDelivered' },
  },
  {
    name: 'an idempotency key counts only in the first event of a stream',
    file: classify,
    text: 'if (key !== undefined && (this.#before.decidedKeys.has(key) || this.#keys.has(key)))',
    becomes:
      'if (key !== undefined && stream.version === 0 && (this.#before.decidedKeys.has(key) || this.#keys.has(key)))',
    caughtBy: {
      file: rules,
      title: 'the first event under an idempotency ke…',
    },
  },
  {
    name: 'an order whose id is taken parks its stream',
    file: classify,
    text: "if (error instanceof IdTakenError) return { outcome: 'duplicate' }",
    becomes: "if (error instanceof IdTakenError) return { outcome: 'parked', reason: error.message }",
    caughtBy: { file: rules, title: 'a booking id is taken, by another seat,…' },
  },
  {
    name: 'a discard skips what waited behind the discarded event',
    file: classify,
    text: 'const result: Judged = released === 0 ? this.#passOver(event) : this.#decide(event)',
    becomes: `const result: Judged = released === 0 ? this.#passOver(event) : { outcome: 'superseded' }`,
    caughtBy: { file: rules, title: 'those behind it take their turn, up to …' },
  },
  {
    name: 'a discard takes all that waits for what is released, whatever it discards',
    file: 'src/engine/projector/lookup.ts',
    text: 'return this.#discarded.get(stream)?.has(first) ?? false',
    becomes: 'return this.#discarded.has(stream) && first >= 0',
    caughtBy: {
      file: 'test/engine/projector/discards.unit.test.ts',
      title: 'of any other event loads nothing that waits',
    },
  },
  {
    name: 'a discard reads what waits once more than it is there',
    file: 'src/engine/projector/lookup.ts',
    text: 'for (let at = 0; at < offsets.length; at += pageMax) {',
    becomes: 'for (let at = 0; at < offsets.length; at += pageMax - 1) {',
    caughtBy: {
      file: 'test/engine/projector/discards.unit.test.ts',
      title: 'takes up thousands that wait, in pages and with one apply',
    },
  },
  {
    name: 'verify looks at no orders',
    file: 'src/engine/rebuilding/verify.ts',
    text: 'const sets = new Set([...expected.sizes.keys(), ...first.sizes.keys(), ...textSets])',
    becomes: `const { collection: home } = this.#options.definition.stream
    const isOfHome = (set: string) => set === home || set.startsWith(\`\${home}:\`)
    const sets = new Set([...[...expected.sizes.keys(), ...first.sizes.keys()].filter(isOfHome), ...textSets])`,
    caughtBy: {
      file: 'test/engine/rebuilding/verify-damages.unit.test.ts',
      title: `verify finds what came of UPDATE [bookings] SET json = replace(json, 'appr', 'pl'), and nothing else`,
    },
  },
  {
    name: 'a replay goes on behind a record that the log does not hold any more',
    file: 'src/engine/rebuilding/replay.ts',
    text: 'if (!isSameRecord(page.records[0], last)) {',
    becomes: 'if (page.records[0]?.offset !== last.offset) {',
    caughtBy: {
      file: 'test/engine/rebuilding/replay.unit.test.ts',
      title: 'notices with each page that the log lost its end, and grew again',
    },
  },
  {
    name: 'verify replays up to where a page ends',
    file: 'src/engine/rebuilding/replay.ts',
    text: 'const next = Math.min(page.next, end)',
    becomes: 'const { next } = page',
    caughtBy: {
      file: 'test/engine/rebuilding/replay.unit.test.ts',
      title: 'gets over offsets without a record, also where there are more of them than a page has',
    },
  },
  {
    name: 'a rebuild takes over before it has all that the log held',
    file: 'src/engine/rebuilding/rebuild.ts',
    text: 'const hasReachedGoal = goal.every(',
    becomes: 'const hasReachedGoal = reached.size > 0 || goal.every(',
    caughtBy: {
      file: 'test/engine/rebuilding/rebuild-goal.unit.test.ts',
      title:
        'a rebuild does not take over with a part of what the log held, though the active generation has even less',
    },
  },
]
