import type { AtLeast } from '../read-models/consistent-reads.ts'
import type { RangeQuery } from '../read-models/read-models.ts'
import { shardOf } from '../read-models/shards.ts'
import { petsIn } from './pet.ts'
import type { Reads } from './read-pets.ts'

type Answer = Awaited<ReturnType<Reads['range']>>

/**
 * Reads over shards, each of which proves its answer (decision 0016). Nothing is atomic across them: each is as new as it
 * is. A pet that two shards hold, which takes a producer of its own kind, is answered from one of them.
 */
export class ShardedReads implements Reads {
  readonly #shards: readonly Reads[]
  readonly #partitionFor: (key: string) => number

  constructor(shards: readonly Reads[], partitionFor: (key: string) => number) {
    this.#shards = shards
    this.#partitionFor = partitionFor
  }

  range(query: RangeQuery, atLeast?: AtLeast): Promise<Answer> {
    return query.from === query.to ? this.#find(query, atLeast) : this.#page(query, atLeast)
  }

  /** Found, it costs one read; it is missing only where no shard has it: a producer may partition in its own way. */
  async #find(query: RangeQuery, atLeast: AtLeast | undefined): Promise<Answer> {
    const home = this.#homeOf(query.from)
    const answer = await this.#ask(home, query, atLeast)
    if (answer.count > 0) return answer
    const others = [...this.#shards.keys()].filter((shard) => shard !== home)
    const answers = await Promise.all(others.map((shard) => this.#ask(shard, query, atLeast)))
    return answers.find(({ count }) => count > 0) ?? answer
  }

  /** The first `limit` of all are among the first `limit` of each. */
  async #page(query: RangeQuery, atLeast: AtLeast | undefined): Promise<Answer> {
    const answers = await Promise.all(this.#shards.map((_, shard) => this.#ask(shard, query, atLeast)))
    const merged = this.#merge(answers)
    const page = merged.slice(0, query.limit)
    const isMore = merged.length > page.length || answers.some(({ last }) => last !== undefined)
    const documents = page.map(({ document }) => document).join(',')
    return { documents, count: page.length, last: isMore ? page.at(-1)?.id : undefined }
  }

  /** In ascending order of id, each once: of two the one that is found by its id. */
  #merge(answers: readonly Answer[]): { id: number; document: string }[] {
    const found = new Map<number, { id: number; document: string }>()
    for (const [shard, { documents }] of answers.entries()) {
      for (const pet of petsIn(documents)) {
        if (!found.has(pet.id) || this.#homeOf(pet.id) === shard) found.set(pet.id, pet)
      }
    }
    return [...found.values()].sort((one, other) => one.id - other.id)
  }

  #homeOf(id: number): number {
    return shardOf(this.#partitionFor(String(id)), this.#shards.length)
  }

  #ask(shard: number, query: RangeQuery, atLeast: AtLeast | undefined): Promise<Answer> {
    const reads = this.#shards[shard]
    if (reads === undefined) throw new RangeError(`no shard ${shard}`)
    return reads.range(query, atLeast && ofShard(atLeast, shard, this.#shards.length))
  }
}

/** Positions can be reached in the shard of their partition only. */
function ofShard({ positions, wait }: AtLeast, shard: number, shards: number): AtLeast | undefined {
  const own = positions.filter(({ partition }) => shardOf(partition, shards) === shard)
  return own.length === 0 ? undefined : { positions: own, wait }
}
