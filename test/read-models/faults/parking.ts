import type { Batch, ParkedEvent, ReadModels } from '../../../src/read-models/read-models.ts'
import { allParked } from '../contract/samples.ts'
import type { Fault, Faults } from './fault.ts'

/** A store that applies something else than it is given. */
function applying(alter: (batch: Batch) => Batch): Fault {
  return (store) => ({ apply: (name, batch) => store.apply(name, alter(batch)) })
}

/** A store that tells otherwise what is parked under a subject. */
function telling(alter: (events: readonly ParkedEvent[]) => readonly ParkedEvent[]): Fault {
  return (store) => ({ parkedUnder: async (...asked) => alter(await store.parkedUnder(...asked)) })
}

/** A store that parks, unparks and frees in all partitions and generations that `reach` says. */
function reaching(reach: (isSame: { partition: boolean; generation: boolean }) => boolean): Fault {
  return (store, data, version) => ({
    apply: async (name, batch) => {
      const result = await store.apply(name, batch)
      if (result.outcome !== 'applied') return result
      for (const generation of data.version(version).generations.values()) {
        for (const partition of generation.checkpoints.keys()) {
          const isSame = { partition: partition === batch.partition, generation: generation.name === name }
          if (!reach(isSame)) continue
          for (const offset of batch.unparked) generation.parked.delete(`${partition}/${offset}`)
          for (const subject of batch.freed) generation.parkedSubjects.get(partition)?.delete(subject)
        }
      }
      return result
    },
  })
}

function hearing(alter: (parked: readonly number[]) => readonly number[]): Fault {
  return (store) => ({
    listen: (listener) =>
      store.listen({
        ...listener,
        progress: (name, at) => listener.progress(name, at && { ...at, parked: alter(at.parked) }),
      }),
  })
}

const asText = (a: ParkedEvent, b: ParkedEvent) => (String(a.offset) < String(b.offset) ? -1 : 1)

export const parkingFaults: Faults = {
  'unparks nothing': applying((batch) => ({ ...batch, unparked: [] })),
  'unparks one': applying((batch) => ({ ...batch, unparked: batch.unparked.slice(0, 1) })),
  'unparks five hundred': applying((batch) => ({ ...batch, unparked: batch.unparked.slice(0, 500) })),
  'frees nothing': applying((batch) => ({ ...batch, freed: [] })),
  'frees one': applying((batch) => ({ ...batch, freed: batch.freed.slice(0, 1) })),
  'frees five hundred': applying((batch) => ({ ...batch, freed: batch.freed.slice(0, 500) })),
  'frees all but special characters': applying((batch) => ({
    ...batch,
    freed: batch.freed.filter((subject) => /^\w+$/.test(subject)),
  })),
  'frees in all partitions': reaching(({ generation }) => generation),
  'frees in all generations': reaching(({ partition }) => partition),
  'frees every subject of what it unparks': (store) => ({
    apply: async (name, batch) => {
      const parked = (await allParked(store, name)) ?? []
      const unparked = parked.filter(
        (each) => each.partition === batch.partition && batch.unparked.includes(each.offset),
      )
      return store.apply(name, { ...batch, freed: [...batch.freed, ...unparked.map(({ subject }) => subject)] })
    },
  }),
  'unparks all that is of a subject': (store) => ({
    apply: async (name, batch) => {
      const parked = (await allParked(store, name)) ?? []
      const here = parked.filter(({ partition }) => partition === batch.partition)
      const subjects = here.filter(({ offset }) => batch.unparked.includes(offset)).map(({ subject }) => subject)
      const unparked = here.filter(({ subject }) => subjects.includes(subject)).map(({ offset }) => offset)
      return store.apply(name, { ...batch, unparked })
    },
  }),
  'never parks again what was freed': (store) => {
    const freed = new Set<string>()
    return {
      apply: (name, batch) => {
        for (const subject of batch.freed) freed.add(subject)
        return store.apply(name, { ...batch, parked: batch.parked.filter(({ subject }) => !freed.has(subject)) })
      },
    }
  },
  'keeps the first that was parked at an offset': (store) => ({
    apply: async (name, batch) => {
      const parked = (await allParked(store, name)) ?? []
      const isFirst = ({ offset }: ParkedEvent) =>
        !parked.some((each) => each.partition === batch.partition && each.offset === offset)
      return store.apply(name, { ...batch, parked: batch.parked.filter(isFirst) })
    },
  }),
  'unparks what was refused': (store, data, version) => ({
    apply: async (name, batch) => {
      const { parked } = data.version(version).generations.get(name) ?? { parked: new Map() }
      for (const offset of batch.unparked) parked.delete(`${batch.partition}/${offset}`)
      return store.apply(name, batch)
    },
  }),
  'does nothing where the position stays': (store) => ({
    apply: (name, batch) =>
      store.apply(
        name,
        batch.expected.next === batch.checkpoint.next ? { ...batch, unparked: [], inserts: [] } : batch,
      ),
  }),
  'sorts offsets as text': telling((events) => events.toSorted(asText)),
  'tells the first that is parked under a subject': telling((events) => events.slice(0, 1)),
  'forgets reasons': telling((events) => events.map((event) => ({ ...event, reason: '' }))),
  'forgets values': telling((events) => events.map((event) => ({ ...event, value: '{}' }))),
  'normalizes reasons': telling((events) =>
    events.map((event) => ({ ...event, reason: event.reason.split('\u0000')[0] ?? '' })),
  ),
  'tells what is parked under all subjects': anyParked((event, partition) => event.partition === partition),
  'tells what is parked in all partitions': anyParked((event, _, subject) => event.subject === subject),
  'tells what is parked under subjects that begin alike': anyParked(
    (event, partition, subject) => event.partition === partition && event.subject.startsWith(subject),
  ),
  'tells what is parked in the active generation': (store) => ({
    parkedUnder: async (_, partition, subject) =>
      store.parkedUnder((await store.active())?.name ?? '', partition, subject),
  }),
  'announces no parked offsets': hearing(() => []),
  'announces one parked offset': hearing((parked) => parked.slice(0, 1)),
  'announces subjects once': hearing((parked) => parked.slice(0, 2)),
}

function anyParked(
  isMeant: (event: { partition: number; subject: string }, partition: number, subject: string) => boolean,
): Fault {
  return (store: ReadModels) => ({
    parkedUnder: async (name, partition, subject) => {
      const parked = (await allParked(store, name)) ?? []
      return parked.filter((event) => isMeant(event, partition, subject)).map(({ partition: _, ...event }) => event)
    },
  })
}
