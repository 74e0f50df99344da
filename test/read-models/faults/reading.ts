import type { RangeAnswer, RangeQuery, ReadModels } from '../../../src/read-models/read-models.ts'
import type { Faults } from './fault.ts'

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

export const readingFaults: Faults = {
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
