import type { Contents, DecidedKeys, Entries } from '../../../src/read-models/inspection.ts'
import type { Moment } from '../../../src/read-models/read-models.ts'
import { type Fault, type Faults, turn } from './fault.ts'

function showing(alter: (contents: Contents) => Partial<Contents>): Fault {
  return (store) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      return contents && { ...contents, ...alter(contents) }
    },
  })
}

function listing(alter: (entries: Entries['entries'], index: string | undefined) => Entries['entries']): Fault {
  return (store) => ({
    entries: async (name, query) => {
      const page = await store.entries(name, query)
      return page && { ...page, entries: alter(page.entries, query.index) }
    },
  })
}

function deciding(alter: (page: DecidedKeys, from: string) => Partial<DecidedKeys>): Fault {
  return (store) => ({
    decisions: async (name, from, limit) => {
      const page = await store.decisions(name, from, limit)
      return page && { ...page, ...alter(page, from) }
    },
  })
}

function counting(alter: (counters: (readonly [string, number])[]) => Iterable<readonly [string, number]>): Fault {
  return (store) => ({
    apply: (name, batch) => store.apply(name, { ...batch, counters: new Map(alter([...batch.counters])) }),
  })
}

const empty: Omit<Contents, 'moment'> = {
  documents: { held: 0, added: 0 },
  indexes: new Map(),
  counters: new Map(),
  parked: 0,
  decisions: 0,
}
const nowhere: Moment = { active: undefined, checkpoints: new Map() }
const unlike = (moment: Moment): Moment => ({ ...moment, checkpoints: new Map() })

export const inspectingFaults: Faults = {
  'has contents of what is not there': (store) => ({
    contents: async (name) => (await store.contents(name)) ?? { ...empty, moment: nowhere },
  }),
  'has entries of what is not there': (store) => ({
    entries: async (name, query) => (await store.entries(name, query)) ?? { entries: [], moment: nowhere },
  }),
  'has decisions of what is not there': (store) => ({
    decisions: async (...asked) =>
      (await store.decisions(...asked)) ?? { decisions: [], next: undefined, moment: nowhere },
  }),
  'has nothing to show of what is empty': (store) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      return contents?.documents.added === 0 ? undefined : contents
    },
  }),
  'shows the contents of the active one': (store) => ({
    contents: async (name) => (await store.contents(name)) && store.contents((await store.active())?.name ?? ''),
  }),
  'holds all that was added': showing(({ documents: { added } }) => ({ documents: { held: added, added } })),
  'added what it holds': showing(({ documents: { held } }) => ({ documents: { held, added: held } })),
  'shows no index that is empty': showing(({ indexes }) => ({
    indexes: new Map([...indexes].filter(([, { held }]) => held > 0)),
  })),
  'shows documents in place of each index': showing(({ documents, indexes }) => ({
    indexes: new Map([...indexes.keys()].map((index) => [index, documents])),
  })),
  'counts no decisions': showing(() => ({ decisions: 0 })),
  'takes documents for decisions': showing(({ documents }) => ({ decisions: documents.held })),
  'shows no checkpoints': showing(({ moment }) => ({ moment: unlike(moment) })),
  'shows contents one after the other': (store) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      await turn()
      const later = await store.contents(name)
      return contents && later && { ...contents, decisions: later.decisions, counters: later.counters }
    },
  }),
  'shows counters that go on': (store, data, version) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      return contents && { ...contents, counters: data.version(version).generations.get(name)?.counters ?? new Map() }
    },
  }),
  'counts nothing': counting(() => []),
  'counts one at a time': counting((counters) => counters.map(([name]) => [name, 1])),
  'counts one of several': counting((counters) => counters.slice(0, 1)),
  'counts words only': counting((counters) => counters.filter(([name]) => /^\w+$/.test(name))),
  'counts five thousand': counting((counters) => counters.slice(0, 5000)),
  'counts what has a name': counting((counters) => counters.filter(([name]) => name !== '')),
  'counts all generations together': (store, data, version) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      const counters = new Map<string, number>()
      for (const each of data.version(version).generations.values()) {
        for (const [name, count] of each.counters) counters.set(name, (counters.get(name) ?? 0) + count)
      }
      return contents && { ...contents, counters }
    },
  }),
  'counts what was refused': (store, data, version) => ({
    apply: async (name, batch) => {
      const result = await store.apply(name, batch)
      if (result.outcome !== 'applied') data.version(version).generations.get(name)?.count(batch)
      return result
    },
  }),
  'leaves out tags': listing((entries, index) =>
    index === undefined ? entries.map(({ id, text }) => ({ id, text: text.slice(0, -12) })) : entries,
  ),
  'adds tags in indexes': listing((entries, index) =>
    index === undefined ? entries : entries.map(({ id, text }) => ({ id, text: `${text}tag-of-event` })),
  ),
  'reads documents and writes them anew': listing((entries, index) =>
    index === undefined ? entries : entries.map(({ id, text }) => ({ id, text: JSON.stringify(JSON.parse(text)) })),
  ),
  'normalizes documents': listing((entries) =>
    entries.map(({ id, text }) => ({ id, text: text.replaceAll('\u2028', ' ') })),
  ),
  'lists entries backwards': listing((entries) => entries.toReversed()),
  'sorts ids as text': listing((entries) => entries.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1))),
  'rounds ids to 15 digits': listing((entries) =>
    entries.map(({ id, text }) => ({ id: Number(id.toPrecision(15)), text })),
  ),
  'leaves out the first id': (store) => ({
    entries: (name, query) => store.entries(name, { ...query, from: query.from + 1 }),
  }),
  'begins at the first id': (store) => ({ entries: (name, query) => store.entries(name, { ...query, from: 1 }) }),
  'goes beyond the limit': (store) => ({
    entries: (name, query) => store.entries(name, { ...query, limit: query.limit + 1 }),
  }),
  'ignores the index': (store) => ({
    entries: (name, query) => store.entries(name, { ...query, index: undefined }),
  }),
  'has no entries of an index that is not there': (store) => ({
    entries: async (name, query) => (query.index === 'none' ? undefined : store.entries(name, query)),
  }),
  'tells where entries are a moment later': (store) => ({
    entries: async (name, query) => {
      const page = await store.entries(name, query)
      await turn()
      const later = await store.entries(name, query)
      return page && later && { ...page, moment: later.moment }
    },
  }),
  'tells no moment of entries': (store) => ({
    entries: async (name, query) => {
      const page = await store.entries(name, query)
      return page && { ...page, moment: unlike(page.moment) }
    },
  }),
  'ends after the first decisions': deciding(() => ({ next: undefined })),
  'leaves out the first decision of each part': deciding(({ decisions }) => ({ decisions: decisions.slice(1) })),
  'leaves out the last decision': deciding(({ decisions, next }) => ({
    decisions: next === undefined ? decisions.slice(0, -1) : decisions,
  })),
  'forgets where a key was decided': deciding(({ decisions }) => ({
    decisions: decisions.map((decision) => ({ ...decision, offset: 0 })),
  })),
  'forgets spaces in keys': deciding(({ decisions }) => ({
    decisions: decisions.map((decision) => ({ ...decision, key: decision.key.replaceAll(' ', '') })),
  })),
  'begins again with each part': (store) => ({
    decisions: async (name, from, limit) => {
      const page = await store.decisions(name, '', limit)
      return page && { ...page, next: from === '' ? page.next : undefined }
    },
  }),
  'tells no moment of decisions': deciding(({ moment }) => ({ moment: unlike(moment) })),
  'goes on where as many decisions are left as were': (store, data, version) => ({
    decisions: async (name, from, limit) => {
      const page = await store.decisions(name, '', limit)
      const all = [...(data.version(version).generations.get(name)?.decisions.values() ?? [])]
      const begin = from === '' ? 0 : all.length - Number(from)
      const end = begin + limit
      return (
        page && {
          ...page,
          decisions: all.slice(begin, end),
          next: end < all.length ? String(all.length - end) : undefined,
        }
      )
    },
  }),
  'tells the decisions of all generations': (store, data, version) => ({
    decisions: async (name, from, limit) => {
      const page = await store.decisions(name, from, limit)
      const all = [...data.version(version).generations.values()].flatMap((each) => [...each.decisions.values()])
      return page && { ...page, decisions: [...page.decisions, ...all] }
    },
  }),
  'names what is asked for as the active one': (store) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      return contents && { ...contents, moment: { ...contents.moment, active: name } }
    },
  }),
}
