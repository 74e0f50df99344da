import { describe, expect, it, vi } from 'vitest'
import { encodeCheckpoint } from '../../src/read-models/checkpoint.ts'
import type { Batch, RangeAnswer, RangeQuery, ReadModels } from '../../src/read-models/read-models.ts'
import type { ReadModelsFixture } from './contract/fixture.ts'
import { MemoryData, MemoryReadModels } from './memory-read-models.ts'
import { readModelsContract, readModelsTopics } from './read-models.contract.ts'

function memoryFixture(alter: (store: ReadModels) => Partial<ReadModels> = () => ({})): ReadModelsFixture {
  const versions = new Map<string, MemoryData>()
  return {
    progressIsHeardBy: 'the store that made it',
    async open(version = 'v1') {
      const data = versions.get(version) ?? new MemoryData()
      versions.set(version, data)
      return altered(new MemoryReadModels(data), alter)
    },
    async empty() {
      for (const data of versions.values()) {
        data.generations.clear()
        data.active = undefined
      }
    },
    remove: async () => {},
  }
}

function altered(store: ReadModels, alter: (store: ReadModels) => Partial<ReadModels>): ReadModels {
  const { active, start, checkpoints, partitionStates, apply, range, decision, listen, close } = store
  const methods = { active, start, checkpoints, partitionStates, apply, range, decision, listen, close }
  const bound = Object.entries(methods).map(([name, method]) => [name, method.bind(store)])
  return { ...Object.fromEntries(bound), ...alter(store) }
}

const cases = readModelsTopics.flatMap(({ topic, cases }) => cases.map((each) => ({ topic, ...each })))

const fails = (): never => {
  throw new Error('not made')
}
const failing: ReadModels = {
  active: async () => fails(),
  start: async () => fails(),
  checkpoints: async () => fails(),
  partitionStates: async () => fails(),
  apply: async () => fails(),
  range: async () => fails(),
  decision: async () => fails(),
  listen: fails,
  close: async () => fails(),
}

/** A store whose answers to `range` are made into others. */
function answering(alter: (answer: RangeAnswer, query: RangeQuery) => Partial<RangeAnswer>) {
  return (store: ReadModels): Partial<ReadModels> => ({
    range: async (generation, query) => {
      const answer = await store.range(generation, query)
      return { ...answer, ...alter(answer, query) }
    },
  })
}

function documentsIn({ documents }: RangeAnswer): { id: number }[] {
  return JSON.parse(`[${documents}]`)
}

function texts(documents: readonly { id: number }[]): string {
  return documents.map((document) => JSON.stringify(document)).join(',')
}

/** Stores that break the contract in one point each. */
const faults: Record<string, (store: ReadModels) => Partial<ReadModels>> = {
  'starts whatever is active': (store) => ({
    start: async (generation) => store.start(generation, (await store.active())?.name),
  }),
  'never starts in place of another': (store) => ({
    start: async (generation, instead) => (instead === undefined ? store.start(generation, instead) : undefined),
  }),
  'forgets the epoch': (store) => ({ start: ({ name }, instead) => store.start({ name, epoch: '' }, instead) }),
  'has checkpoints of what is not there': (store) => ({
    checkpoints: async (generation) => (await store.checkpoints(generation)) ?? new Map(),
  }),
  'has states of what is not there': (store) => ({
    partitionStates: async (generation, partitions) =>
      (await store.partitionStates(generation, partitions)) ?? new Map(),
  }),
  'leaves partitions out of the states': (store) => ({
    partitionStates: async (generation, partitions) => {
      const states = await store.partitionStates(generation, partitions)
      return states && new Map([...states].filter(([, { checkpoint }]) => checkpoint.next > 0))
    },
  }),
  'mixes the parked subjects of all partitions': (store) => ({
    partitionStates: async (generation, partitions) => {
      const states = await store.partitionStates(generation, [0, 1, 2, 10])
      const parkedSubjects = new Set([...(states?.values() ?? [])].flatMap((state) => [...state.parkedSubjects]))
      return states && new Map(partitions.map((p) => [p, { ...(states.get(p) ?? fails()), parkedSubjects }]))
    },
  }),
  'applies whatever is expected': (store) => ({
    apply: async (generation, batch) => store.apply(generation, await agreeing(store, generation, batch, () => true)),
  }),
  'compares positions only': (store) => ({
    apply: async (generation, batch) =>
      store.apply(
        generation,
        await agreeing(store, generation, batch, (stored) => stored.next === batch.expected.next),
      ),
  }),
  'says that a repeated batch was applied': (store) => ({
    apply: async (generation, batch) => {
      const stored = (await store.checkpoints(generation))?.get(batch.partition)
      const isRepeated = stored && encodeCheckpoint(stored) === encodeCheckpoint(batch.checkpoint)
      return isRepeated ? { outcome: 'applied' } : store.apply(generation, batch)
    },
  }),
  'starts the generation that is gone': (store) => ({
    apply: async (generation, batch) => {
      if ((await store.checkpoints(generation)) === undefined) {
        await store.start({ name: generation, epoch: '' }, (await store.active())?.name)
      }
      return store.apply(generation, batch)
    },
  }),
  'writes the documents that are free': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      if (result.outcome !== 'ids_taken') return result
      await store.apply(generation, { ...batch, inserts: batch.inserts.filter(({ id }) => !result.tags.has(id)) })
      return result
    },
  }),
  'leaves out the tags': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      return result.outcome === 'ids_taken' ? { ...result, tags: new Map() } : result
    },
  }),
  'decides keys anew': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      return result.outcome === 'keys_decided' ? store.apply(generation, { ...batch, decisions: [] }) : result
    },
  }),
  'tells one decided key': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      return result.outcome === 'keys_decided' ? { ...result, keys: result.keys.slice(0, 1) } : result
    },
  }),
  'forgets decisions': (store) => ({
    apply: (generation, batch) => store.apply(generation, { ...batch, decisions: [] }),
  }),
  'forgets where a key was decided': (store) => ({
    decision: async (generation, key) => {
      const decision = await store.decision(generation, key)
      return decision && { ...decision, offset: 0 }
    },
  }),
  'takes spaces out of keys': (store) => ({
    decision: (generation, key) => store.decision(generation, key.trim()),
  }),
  'decides for all generations': (store) => {
    const names: string[] = []
    return {
      start: async (generation, instead) => {
        names.push(generation.name)
        return store.start(generation, instead)
      },
      decision: async (_generation, key) => {
        for (const name of names) {
          const decision = await store.decision(name, key)
          if (decision !== undefined) return decision
        }
        return undefined
      },
    }
  },
  'forgets what is parked': (store) => ({
    apply: (generation, batch) => store.apply(generation, { ...batch, parked: [] }),
  }),
  'keeps five hundred documents of a batch': (store) => ({
    apply: (generation, batch) => store.apply(generation, { ...batch, inserts: batch.inserts.slice(0, 500) }),
  }),
  'keeps four indexes of a document': (store) => ({
    apply: (generation, batch) =>
      store.apply(generation, {
        ...batch,
        inserts: batch.inserts.map((insert) => ({ ...insert, indexes: insert.indexes.slice(0, 4) })),
      }),
  }),
  'reads documents and writes them anew': answering((answer) => ({ documents: texts(documentsIn(answer)) })),
  'takes newlines out of documents': answering(({ documents }) => ({ documents: documents.replaceAll('\n', '') })),
  'normalizes documents': answering(({ documents }) => ({ documents: documents.normalize() })),
  'gives documents one a line': answering((answer) => ({
    documents: documentsIn(answer)
      .map((document) => JSON.stringify(document))
      .join(',\n'),
  })),
  'gives documents with a comma behind': answering(({ documents }) => ({ documents: `${documents},` })),
  'counts commas': answering(({ documents }) => ({ count: documents === '' ? 0 : documents.split('},{').length })),
  'leaves out the first id of a range': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, from: query.from + 1 }),
  }),
  'leaves out the last id of a range': (store) => ({
    range: (generation, query) =>
      store.range(generation, query.to === undefined ? query : { ...query, to: query.to - 1 }),
  }),
  'goes beyond the limit': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, limit: query.limit + 1 }),
  }),
  'gives the last documents of a range': (store) => ({
    range: async (generation, query) => {
      const answer = await store.range(generation, { ...query, limit: 100_000 })
      const documents = documentsIn(answer).slice(-query.limit)
      return { ...answer, documents: texts(documents), count: documents.length }
    },
  }),
  'never says that more follow': answering(() => ({ last: undefined })),
  'says of every full answer that more follow': answering((answer, { limit }) => ({
    last: answer.count === limit ? documentsIn(answer).at(-1)?.id : undefined,
  })),
  'says that more follow where they are beyond the range': (store) => ({
    range: async (generation, query) => {
      const answer = await store.range(generation, query)
      const { count, last } = await store.range(generation, { ...query, to: undefined })
      return count === answer.count ? { ...answer, last } : answer
    },
  }),
  'tells the id that follows instead of the last': answering(({ last }) => ({ last: last && last + 1 })),
  'rounds the last id to 15 digits': answering(({ last }) => ({ last: last && Number(last.toPrecision(15)) })),
  'ignores the index': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, index: undefined }),
  }),
  'sorts ids as text': answering((answer) => {
    const documents = documentsIn(answer)
    if (texts(documents) !== answer.documents) return {}
    return { documents: texts(documents.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))) }
  }),
  'rounds ids to 14 digits': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, from: Number(query.from.toPrecision(14)) }),
  }),
  'mixes up ranges when more than 16 are asked for at once': mixing(16),
  'mixes up ranges when more than 64 are asked for at once': mixing(64),
  'reads what is asked for at once from one generation': (store) => {
    let turn: string | undefined
    return {
      range: async (generation, query) => {
        turn ??= generation
        const read = turn
        setImmediate(() => {
          turn = undefined
        })
        return store.range(read, query)
      },
    }
  },
  'shares what is under way': (store) => {
    const underWay = new Map<string, Promise<RangeAnswer>>()
    return {
      range: (generation, query) => {
        const key = JSON.stringify([generation, query])
        const answer = underWay.get(key) ?? slowly(store, generation, query).finally(() => underWay.delete(key))
        underWay.set(key, answer)
        return answer
      },
    }
  },
  'names the generation asked for as the active one': (store) => ({
    range: async (generation, query) => {
      const answer = await store.range(generation, query)
      return { ...answer, moment: { ...answer.moment, active: generation } }
    },
  }),
  'names the generation that is active a moment later': (store) => ({
    range: async (generation, query) => {
      const answer = await slowly(store, generation, query)
      return { ...answer, moment: { ...answer.moment, active: (await store.active())?.name } }
    },
  }),
  'tells the checkpoints of the active generation': (store) => ({
    range: async (generation, query) => {
      const answer = await store.range(generation, query)
      const { checkpoints } = (await store.range(answer.moment.active ?? '', query)).moment
      return { ...answer, moment: { ...answer.moment, checkpoints } }
    },
  }),
  'tells no checkpoints but the first': answering(({ moment: { active, checkpoints } }) => ({
    moment: { active, checkpoints: new Map([...checkpoints].slice(0, 1)) },
  })),
  'tells a moment that was before': (store) => {
    const moments = new Map<string, RangeAnswer['moment']>()
    return {
      range: async (generation, query) => {
        const answer = await store.range(generation, query)
        const moment = moments.get(generation) ?? answer.moment
        moments.set(generation, answer.moment)
        return { ...answer, moment }
      },
    }
  },
  'changes moments it has told': (store) => {
    const told = new Map<string, RangeAnswer['moment'] & { active: string | undefined }>()
    return {
      range: async (generation, query) => {
        const answer = await store.range(generation, query)
        const moment = Object.assign(told.get(generation) ?? {}, answer.moment)
        told.set(generation, moment)
        return { ...answer, moment }
      },
    }
  },
  'holds what it found': answering(({ count }) => ({ held: count })),
  'added what it found': answering(({ count }) => ({ added: count })),
  'counts the collection for an index': (store) => ({
    range: async (generation, query) => {
      const { held } = await store.range(generation, { ...query, index: undefined })
      return { ...(await store.range(generation, query)), held }
    },
  }),
  'counts what was added to the collection for an index': (store) => ({
    range: async (generation, query) => {
      const { added } = await store.range(generation, { ...query, index: undefined })
      return { ...(await store.range(generation, query)), added }
    },
  }),
  'counts one after the other': (store) => ({
    range: async (generation, query) => {
      const { held, added } = await store.range(generation, query)
      return { ...(await store.range(generation, query)), held, added }
    },
  }),
  'tells a moment after reading documents': (store) => ({
    range: async (generation, query) => {
      const { moment: _, ...found } = await store.range(generation, query)
      return { ...found, moment: (await store.range(generation, query)).moment }
    },
  }),
  'is never connected': (store) => ({ listen: (listener) => store.listen({ ...listener, connected: () => {} }) }),
  'is never disconnected': (store) => ({ listen: (listener) => store.listen({ ...listener, disconnected: () => {} }) }),
  'tells those who unsubscribed': (store) => ({
    listen: (listener) => {
      store.listen(listener)
      return () => {}
    },
  }),
  'keeps a start to itself': (store) => ({
    listen: (listener) =>
      store.listen({ ...listener, progress: (generation, at) => at && listener.progress(generation, at) }),
  }),
  'tells the last position instead of the next': (store) => ({
    listen: (listener) =>
      store.listen({
        ...listener,
        progress: (generation, at) => listener.progress(generation, at && { ...at, next: at.next - 1 }),
      }),
  }),
  'tells of what was refused': (store) => {
    const told = new Set<Parameters<ReadModels['listen']>[0]>()
    return {
      listen: (listener) => {
        told.add(listener)
        return store.listen(listener)
      },
      apply: async (generation, batch) => {
        const result = await store.apply(generation, batch)
        const at = { partition: batch.partition, next: batch.checkpoint.next }
        if (result.outcome !== 'applied') for (const listener of told) listener.progress(generation, at)
        return result
      },
    }
  },
  'answers after it was closed': () => ({ close: async () => {} }),
}

async function agreeing(
  store: ReadModels,
  generation: string,
  batch: Batch,
  agrees: (stored: Batch['expected']) => boolean,
): Promise<Batch> {
  const stored = (await store.checkpoints(generation))?.get(batch.partition)
  return stored && agrees(stored) ? { ...batch, expected: stored } : batch
}

/** More than `atOnce` in one turn of the event loop get the answer to the first of them. */
function mixing(atOnce: number) {
  return (store: ReadModels): Partial<ReadModels> => {
    const asked: [string, RangeQuery][] = []
    return {
      range: async (generation, query) => {
        asked.push([generation, query])
        setImmediate(() => asked.splice(0))
        const [first] = asked
        return asked.length > atOnce && first ? store.range(...first) : store.range(generation, query)
      },
    }
  }
}

/** The answer of now, some turns of the event loop later. */
async function slowly(store: ReadModels, generation: string, query: RangeQuery): Promise<RangeAnswer> {
  const answer = await store.range(generation, query)
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  return answer
}

async function passes(check: (fixture: ReadModelsFixture) => Promise<void>, fixture: ReadModelsFixture) {
  try {
    await check(fixture)
    return true
  } catch {
    return false
  }
}

readModelsContract('the model', async () => memoryFixture())

describe('the contract suite', () => {
  vi.setConfig({ testTimeout: 30_000 })

  it.each(cases)('fails on a store that answers nothing: $topic: $name', async ({ check }) => {
    expect(await passes(check, { ...memoryFixture(), open: async () => failing })).toBe(false)
  })

  it.each(Object.entries(faults))('finds a store that %s', async (_fault, alter) => {
    let isFound = false
    for (const { check } of cases) isFound ||= !(await passes(check, memoryFixture(alter)))
    expect(isFound).toBe(true)
  })
})
