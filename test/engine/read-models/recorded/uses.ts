import type { Definition } from '../../../../src/engine/definition/definition.ts'
import { type Kind, streamKinds } from '../../../../src/engine/definition/kinds.ts'
import { Applier } from '../../../../src/engine/projector/applier.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { hiddenBehindMax } from '../../../../src/engine/read-models/row-place.ts'
import { type Checkpoint, startOfPartition } from '../../../../src/engine/read-models/stored-texts.ts'
import { logger } from '../../projector/projecting.ts'
import { logOf } from '../../projector/records.ts'
import { logId, type Use } from './contents.ts'
import type { History } from './histories.ts'

const batchesMax = 25
/** Not 0, which is much else too. */
const partition = 3

/** A use of a store with each history, and some that no history brings about. */
export function usesOf(definition: Definition, histories: ReadonlyMap<string, History>): ReadonlyMap<string, Use> {
  const apply =
    (history: History, of = definition) =>
    (store: ReadModelStore) =>
      start(store).then(() => project(of, store, history))
  const [first = []] = histories.values()
  return new Map<string, Use>([
    ...[...histories].map(([name, history]) => [name, apply(history)] as const),
    ['(a state too long to stand behind its document)', apply(first, withLongStates(definition))],
    ['(generations in each state)', (store) => inEachState(definition, store, first)],
  ])
}

async function start({ generations }: ReadModelStore): Promise<void> {
  await generations.start({ name: 'first', logId }, undefined)
}

async function inEachState(definition: Definition, store: ReadModelStore, history: History): Promise<void> {
  const { generations } = store
  await generations.renew()
  await start(store)
  await generations.build({ name: 'second', logId })
  await project(definition, store, history, 'second')
  await generations.activate('second')
  await generations.build({ name: 'third', logId })
  await generations.activate('third') // it is behind, so the second one is paused
}

/** Record by record, or in as many batches where there are more of them. */
async function project(definition: Definition, store: ReadModelStore, history: History, generation = 'first') {
  const all = logOf(history)
  const read = async (_: number, from: number, limit: number) => ({
    records: all.slice(from, from + limit),
    next: Math.min(all.length, from + limit),
  })
  const log = { partitionFor: () => partition, endOffsets: async () => [0, 0, 0, all.length], read }
  const applier = new Applier({ store: store.projection, definition, log, logger })
  const size = Math.ceil(all.length / batchesMax)
  let checkpoint: Checkpoint | undefined = startOfPartition
  for (let from = 0; from < all.length; from += size) {
    if (checkpoint === undefined) throw new Error(`the records from ${from} on are refused`)
    const { records, next } = await read(0, from, size)
    checkpoint = await applier.apply(generation, checkpoint, { partition, from, records, next })
  }
}

function withLongStates(definition: Definition): Definition {
  const more = 'x'.repeat(hiddenBehindMax + 1)
  const [first, ...others] = definition.kinds.map((kind): Kind => {
    const { hidden, read } = kind.codec
    const codec: Kind['codec'] = {
      hidden: (state, document) => hidden(state, document) + more,
      read: (stored) => read({ ...stored, hidden: stored.hidden.slice(0, -more.length) }),
    }
    return { ...kind, codec }
  })
  return first === undefined ? definition : { ...definition, ...streamKinds([first, ...others]) }
}
