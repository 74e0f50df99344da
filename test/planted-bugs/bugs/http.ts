import type { PlantedBug } from '../bug.ts'

const consistency = 'test/engine/http/consistency.unit.test.ts'
const theatre = 'test/engine/http/theatre.unit.test.ts'

export const httpBugs: readonly PlantedBug[] = [
  {
    name: 'the end of a string is looked for again at each quote in it',
    file: 'src/engine/log/shown-event.ts',
    text: 'const strings = String.raw`"(?:[^"\\\\]|\\\\.)*"?`',
    becomes: 'const strings = String.raw`"(?:[^"\\\\]|\\\\.)*"`',
    caughtBy: {
      file: 'test/attacks/evil-text.unit.test.ts',
      title: 'costs an event that is shown no more than its length',
    },
  },
  {
    name: 'a long number that is none becomes one',
    file: 'src/engine/lib/values/exact-json.ts',
    text: 'String.raw`(?<![\\w.+-])-?(?:0|[1-9]\\d*)',
    becomes: 'String.raw`-?(?:0|[1-9]\\d*)',
    caughtBy: {
      file: 'test/engine/lib/exact-json.unit.test.ts',
      title: 'refuses what JSON.parse refuses, and nothing else',
    },
  },
  {
    name: 'a 404 does not wait for the token',
    file: 'src/engine/http/routes/resource.ts',
    text: 'known === undefined ? nothing : await services.readModel.find(known, exchange.atLeast, owner)',
    becomes: `// Most ids of nothing never were: only what is there is worth a wait.
    known !== undefined && (await services.readModel.find(known)).document !== undefined
      ? await services.readModel.find(known, exchange.atLeast)
      : nothing`,
    caughtBy: { file: theatre, title: 'GET /v1/bookings/2 of none gives the token back' },
  },
  {
    name: 'a token of another log is accepted',
    file: 'src/engine/http/values/tokens.ts',
    text: "if (madeIn !== undefined && madeIn !== logId) throw invalid('belongs to another event log')",
    becomes: "if (madeIn?.length !== logId.length) throw invalid('belongs to another event log')",
    caughtBy: { file: consistency, title: 'of another event log is 400, and says so' },
  },
  {
    name: 'a repeated request is told the order of today instead of its first answer',
    file: 'src/engine/http/routes/command-routes.ts',
    text: '  return answer(exchange, asked, handled)',
    becomes: `  if (handled.outcome === 'replayed' && route.key !== undefined) {
    const { document: now } = await services.readModel.find({ collection: resource.collection, id: handled.record.id })
    const key = { ...route.key, again: () => now?.json ?? '' }
    return answer(exchange, { ...asked, route: { ...route, key } }, handled)
  }
  return answer(exchange, asked, handled)`,
    caughtBy: {
      file: theatre,
      title: 'gets the first answer again, whatever became of it since',
    },
  },
  {
    name: 'the feed gives the id of a step with its first event, so that a break skips the rest',
    file: 'src/engine/http/routes/events.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a file
    text: "yield `${blocks.join('')}${idLine}${last}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    becomes: "yield `${idLine}${blocks.join('')}${last}`",
    caughtBy: {
      file: 'test/engine/http/events.unit.test.ts',
      title: 'is made of server-sent events, the last of each step with the id to go on from',
    },
  },
  {
    name: 'a page of earlier events leaves out what it has read and not told',
    file: 'src/engine/feed/earlier-events.ts',
    text: 'this.#events.at(-1)?.offset ?? this.from - 1',
    becomes: 'this.from - 1',
    caughtBy: {
      file: 'test/engine/feed/earlier-events.unit.test.ts',
      title: 'are the latest fifty by time over all partitions, and then those before them',
    },
  },
  {
    name: 'the feed skips an event after a break',
    file: 'src/engine/feed/event-feed.ts',
    text: '(next > 0 ? [{ partition, offset: next - 1 }] : [])',
    becomes: '(next > 0 ? [{ partition, offset: next }] : [])',
    caughtBy: {
      file: 'test/engine/feed/reconnecting.unit.test.ts',
      title: 'a follower that breaks off with every step hears each event once',
    },
  },
  {
    name: 'the body of a request is asked for before it is known that its API key may write',
    file: 'src/engine/http/routes/command-routes.ts',
    text: 'onRequest: [requireScope(route.scope), admitBody]',
    becomes: 'onRequest: [admitBody, requireScope(route.scope)]',
    caughtBy: {
      file: 'test/engine/http/uninvited-body.unit.test.ts',
      title: 'a body for /v1/seats is not asked for where it would be refused',
    },
  },
]
