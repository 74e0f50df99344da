import type { Contents, ParkedEvents, ParkedThere } from '../../../src/read-models/inspection.ts'
import type { Moment } from '../../../src/read-models/read-models.ts'
import { type Fault, type Faults, turn } from './fault.ts'

/** A store that counts otherwise what is parked. */
function counting(count: (contents: Contents) => number): Fault {
  return (store) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      return contents && { ...contents, parked: count(contents) }
    },
  })
}

function telling(alter: (part: ParkedEvents, from: string) => Partial<ParkedEvents>): Fault {
  return (store) => ({
    parked: async (name, from, limit) => {
      const part = await store.parked(name, from, limit)
      return part && { ...part, ...alter(part, from) }
    },
  })
}

function tellingEach(alter: (event: ParkedEvents['events'][number]) => object): Fault {
  return telling(({ events }) => ({ events: events.map((event) => ({ ...event, ...alter(event) })) }))
}

function finding(alter: (there: ParkedThere) => Partial<ParkedThere>): Fault {
  return (store) => ({
    parkedAt: async (name, place) => {
      const there = await store.parkedAt(name, place)
      return there && { ...there, ...alter(there) }
    },
  })
}

const nowhere: Moment = { active: undefined, checkpoints: new Map() }
const unlike = (moment: Moment): Moment => ({ ...moment, checkpoints: new Map() })

export const inspectingParkedFaults: Faults = {
  'counts no parked event': counting(() => 0),
  'counts decisions for parked events': counting(({ decisions }) => decisions),
  'counts partitions for parked events': counting(({ moment }) => moment.checkpoints.size),
  'counts parked events a moment later': (store) => ({
    contents: async (name) => {
      const contents = await store.contents(name)
      await turn()
      const later = await store.contents(name)
      return contents && later && { ...contents, parked: later.parked }
    },
  }),
  'has parked events of what is not there': (store) => ({
    parked: async (...asked) => (await store.parked(...asked)) ?? { events: [], next: undefined, moment: nowhere },
  }),
  'has a place in what is not there': (store) => ({
    parkedAt: async (...asked) => (await store.parkedAt(...asked)) ?? { event: undefined, moment: nowhere },
  }),
  'has no part of what is empty': (store) => ({
    parked: async (...asked) => {
      const part = await store.parked(...asked)
      return part?.events.length === 0 ? undefined : part
    },
  }),
  'ends after the first parked events': telling(() => ({ next: undefined })),
  'leaves out the first parked event of each part': telling(({ events }) => ({ events: events.slice(1) })),
  'leaves out the last parked event': telling(({ events, next }) => ({
    events: next === undefined ? events.slice(0, -1) : events,
  })),
  'leaves out what is parked under no subject': telling(({ events }) => ({
    events: events.filter(({ subject }) => subject !== ''),
  })),
  'leaves out what is parked under a subject with a slash': telling(({ events }) => ({
    events: events.filter(({ subject }) => !subject.includes('/')),
  })),
  'tells the first partition': tellingEach(() => ({ partition: 0 })),
  'tells no reason': tellingEach(() => ({ reason: '' })),
  'tells values in one line': tellingEach(({ value }) => ({ value: value.replaceAll('\n', '') })),
  'takes offsets for 32 bits': tellingEach(({ offset }) => ({ offset: offset % 2 ** 32 })),
  'begins again with each part of what is parked': (store) => ({
    parked: async (name, from, limit) => {
      const part = await store.parked(name, '', limit)
      return part && { ...part, next: from === '' ? part.next : undefined }
    },
  }),
  'tells one more parked event': (store) => ({
    parked: (name, from, limit) => store.parked(name, from, limit + 1),
  }),
  'tells the last of a part again': (store) => {
    const last = new Map<string | undefined, ParkedEvents['events']>()
    return {
      parked: async (name, from, limit) => {
        const part = await store.parked(name, from, Math.max(1, limit - 1))
        if (part !== undefined) last.set(part.next, part.events.slice(-1))
        return part && limit > 1 ? { ...part, events: [...(last.get(from) ?? []), ...part.events] } : part
      },
    }
  },
  'tells large events together': (store, data, version) => ({
    parked: async (name, from, limit) => {
      const part = await store.parked(name, from, limit)
      const all = data.version(version).generations.get(name)?.parkedInOrder() ?? []
      return part && all.length < limit ? { ...part, events: all, next: undefined } : part
    },
  }),
  'goes on by number': (store, data, version) => ({
    parked: async (name, from, limit) => {
      const part = await store.parked(name, '', limit)
      const all = data.version(version).generations.get(name)?.parkedInOrder() ?? []
      const end = Number(from) + limit
      const next = end < all.length ? String(end) : undefined
      return part && (limit === 20 ? { ...part, events: all.slice(Number(from), end), next } : part)
    },
  }),
  'goes on behind what has to be there still': (store, data, version) => ({
    parked: async (name, from, limit) => {
      const isThere = from === '' || data.version(version).generations.get(name)?.parked.has(from)
      return store.parked(name, isThere ? from : '', limit)
    },
  }),
  'tells what is parked in all generations': (store, data, version) => ({
    parked: async (name, from, limit) => {
      const part = await store.parked(name, from, limit)
      const all = [...data.version(version).generations.values()].flatMap((each) => each.parkedInOrder())
      return part && limit === 1000 ? { ...part, events: all.slice(0, limit), next: undefined } : part
    },
  }),
  'tells no moment of parked events': telling(({ moment }) => ({ moment: unlike(moment) })),
  'tells where parked events are a moment later': (store) => ({
    parked: async (...asked) => {
      const part = await store.parked(...asked)
      await turn()
      const later = await store.parked(...asked)
      return part && later && { ...part, moment: later.moment }
    },
  }),
  'names what is asked for parked events as the active one': (store) => ({
    parked: async (name, from, limit) => {
      const part = await store.parked(name, from, limit)
      return part && { ...part, moment: { ...part.moment, active: name } }
    },
  }),
  'finds nothing parked': finding(() => ({ event: undefined })),
  'finds what is parked without its value': finding(({ event }) => ({ event: event && { ...event, value: '' } })),
  'finds what is parked in another partition': (store) => ({
    parkedAt: async (name, place) => {
      const there = await store.parkedAt(name, place)
      const other = await store.parkedAt(name, { ...place, partition: 1 })
      return there && { ...there, event: there.event ?? other?.event }
    },
  }),
  'finds what is parked in another generation': (store) => ({
    parkedAt: async (name, place) => {
      const there = await store.parkedAt(name, place)
      const other = await store.parkedAt((await store.active())?.name ?? '', place)
      return there && { ...there, event: there.event ?? other?.event }
    },
  }),
  'tells no moment of a place': finding(({ moment }) => ({ moment: unlike(moment) })),
  'tells a moment of a place that is later': (store) => ({
    parkedAt: async (...asked) => {
      const there = await store.parkedAt(...asked)
      await turn()
      const later = await store.parkedAt(...asked)
      return there && later && { ...there, moment: later.moment }
    },
  }),
  'names what is asked for a place as the active one': (store) => ({
    parkedAt: async (name, place) => {
      const there = await store.parkedAt(name, place)
      return there && { ...there, moment: { ...there.moment, active: name } }
    },
  }),
}
