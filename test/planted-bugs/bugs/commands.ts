import type { PlantedBug } from '../bug.ts'

const newStream = 'test/command-handling/new-stream.unit.test.ts'
const commands = 'test/command-handling/command-handler.unit.test.ts'

export const commandBugs: readonly PlantedBug[] = [
  {
    name: 'an older If-Match is accepted when an order is cancelled',
    file: 'src/domain/pet-stream.ts',
    text: 'if (Array.isArray(ifMatch) && !ifMatch.includes(version ?? 0)) {',
    becomes: `const isNamed = (each: number) => each === version || (status === 'cancelled' && each < (version ?? 0))
  if (Array.isArray(ifMatch) && !ifMatch.some(isNamed)) {`,
    caughtBy: {
      file: 'test/domain/pet-stream.unit.test.ts',
      title: 'is updated as its status, the status that is asked for and If-Match say',
    },
  },
  {
    name: 'a keyed create goes to another partition than that of its key',
    file: 'src/command-handling/event-writer.ts',
    text: `const key = this.keyOf(request)
    const drawn = await this.#draw(() => key?.partition ?? appender.gathering)`,
    becomes: 'const drawn = await this.#draw(() => appender.gathering)',
    caughtBy: {
      file: newStream,
      title: 'goes to the partition of the key, and is answered once its outcome is known',
    },
  },
  {
    name: 'a keyed create is answered before its key is decided',
    file: 'src/command-handling/execution.ts',
    text: "this.#hasNoCompetitor = options.stream === 'new' && options.idempotency === undefined",
    becomes: "this.#hasNoCompetitor = options.stream === 'new'",
    caughtBy: { file: newStream, title: 'that another request decides meanwhile is answered from its record' },
  },
  {
    name: 'a command goes on in a stream with parked events',
    file: 'src/command-handling/execution.ts',
    text: 'if (basis.hasParked) throw streamParked()',
    becomes: 'if (basis.hasParked && basis.row === undefined) throw streamParked()',
    caughtBy: { file: commands, title: 'about a stream with parked events is refused, and appends nothing' },
  },
  {
    name: 'a retry appends another event while the read models are behind',
    file: 'src/command-handling/execution.ts',
    text: 'if (isUndetermined(learned)) unsettled.add(key, { written, fingerprint })',
    becomes: "if (learned.outcome === 'unknown') unsettled.add(key, { written, fingerprint })",
    caughtBy: {
      file: commands,
      title: 'appends nothing more however often it is sent while the read models are behind',
    },
  },
  {
    name: 'two holders of API keys share their idempotency keys',
    file: 'src/domain/idempotency.ts',
    text: 'return idempotency([apiKeyOwner, idempotencyKey], [name, String(categoryId), status])',
    becomes: 'return idempotency([idempotencyKey], [name, String(categoryId), status])',
    caughtBy: {
      file: 'test/http/idempotency.unit.test.ts',
      title: 'is 422 for another body, and another request for another API key or pet',
    },
  },
]
