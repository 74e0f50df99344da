import type { PlantedBug } from '../bug.ts'

const newStream = 'test/engine/commands/new-stream.unit.test.ts'
const commands = 'test/engine/commands/command-handler.unit.test.ts'

export const commandBugs: readonly PlantedBug[] = [
  {
    name: 'If-Match is judged by the document as it was before a rival came first',
    file: 'src/engine/commands/execution.ts',
    text: 'const event = this.#decide(target, time, stream.state, basis)',
    becomes: 'const event = this.#decide(target, time, stream.state, loaded ?? basis)',
    caughtBy: {
      file: 'test/engine/commands/documents.unit.test.ts',
      title: 'is judged again when a rival came first',
    },
  },
  {
    name: 'an event that a log lost with its end is awaited for ever',
    file: 'src/engine/commands/execution.ts',
    text: 'if (await this.#isWorthless(earlier)) {',
    becomes: 'if (await this.#isWorthless(earlier).then(() => false)) {',
    caughtBy: {
      file: 'test/engine/commands/lost-end.unit.test.ts',
      title: 'is let go once it lies beyond the end of a log that lost its end: the retry gets its final answer',
    },
  },
  {
    name: 'a keyed create goes to another partition than that of its key',
    file: 'src/engine/commands/event-writer.ts',
    text: `const key = this.keyOf(request)
    const drawn = await this.#draw(() => key?.partition ?? appender.gathering, deadline)`,
    becomes: 'const drawn = await this.#draw(() => appender.gathering, deadline)',
    caughtBy: {
      file: newStream,
      title: 'goes to the partition of the key, and is answered once its outcome is known',
    },
  },
  {
    name: 'a keyed create is answered before its key is decided',
    file: 'src/engine/commands/execution.ts',
    text: "this.#hasNoCompetitor = request.stream === 'new' && request.idempotency === undefined",
    becomes: "this.#hasNoCompetitor = request.stream === 'new'",
    caughtBy: { file: newStream, title: 'that another request decides meanwhile is answered from its record' },
  },
  {
    name: 'a command goes on in a stream with parked events',
    file: 'src/engine/commands/execution.ts',
    text: 'if (basis.parked !== undefined) throw streamParked()',
    becomes: 'if (basis.parked !== undefined && basis.row === undefined) throw streamParked()',
    caughtBy: { file: commands, title: 'about a stream with parked events is refused, and appends nothing' },
  },
  {
    name: 'an order whose id is taken is placed under that id again and again',
    file: 'src/engine/commands/execution.ts',
    text: "if (isNew || outcome === 'duplicate') target = undefined",
    becomes: 'if (isNew) target = undefined',
    caughtBy: { file: commands, title: 'gets one of another block, as every booking after it' },
  },
  {
    name: 'a retry appends another event while the read models are behind',
    file: 'src/engine/commands/execution.ts',
    text: 'if (isUndetermined(learned)) pending.add(',
    becomes: "if (learned.outcome === 'unread') pending.add(",
    caughtBy: {
      file: commands,
      title: 'appends nothing more however often it is sent while the read models are behind',
    },
  },
  {
    name: 'a block of ids is used although something is stored under them',
    file: 'src/engine/commands/id-blocks.ts',
    text: 'if (!(await this.#isTaken(block, needed))) return block',
    becomes: `await this.#isTaken(block, needed)
      return block`,
    caughtBy: {
      file: 'test/engine/commands/id-blocks.unit.test.ts',
      title: 'is skipped, with a warning that names it, when anything is stored under one of them',
    },
  },
  {
    name: 'a new stream whose own event is parked is begun again under another id',
    file: 'src/engine/rule/awaiting.ts',
    text: 'parked !== undefined && parked.first < position.offset',
    becomes: 'parked !== undefined',
    caughtBy: { file: newStream, title: 'is an error when the event is parked' },
  },
  {
    name: 'nobody follows a new stream that was answered before its outcome was known',
    file: 'src/engine/commands/execution.ts',
    text: "if (outcome === 'late') this.#options.acknowledged.follow(written)",
    becomes: '',
    caughtBy: {
      file: newStream,
      title:
        'is answered without being readable when that takes longer than it is waited for, and followed from then on',
    },
  },
  {
    name: 'what is announced of a position in another generation counts for an event that is followed',
    file: 'src/engine/commands/acknowledged-events.ts',
    text: 'return isAnnounced && !isSame() ?',
    becomes: 'return isAnnounced && generation === undefined ?',
    caughtBy: {
      file: 'test/engine/commands/acknowledged-events.unit.test.ts',
      title: 'is looked up where another generation is announced while it is waited for',
    },
  },
  {
    name: 'two holders of API keys share their idempotency keys',
    file: 'src/engine/http/routes/command-routes.ts',
    text: 'return idempotency([owner, value, ...scope],',
    becomes: 'return idempotency([value, ...scope],',
    caughtBy: {
      file: 'test/engine/http/idempotency.unit.test.ts',
      title: 'is 422 for another body, and another request for another API key or seat',
    },
  },
]
