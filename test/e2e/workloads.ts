import { fillLog } from '../../bench/full-log.ts'
import { writeCursor } from '../../src/engine/http/values/tokens.ts'
import { petStatuses } from '../../src/store/pet.ts'
import type { Asked } from '../campaign/recorder.ts'
import type { Random } from '../lib/random.ts'
import type { Pet } from './client.ts'
import { addPet, reading, type Work, type WorkOf } from './load.ts'
import type { Environment } from './service.ts'

type StandingPet = Pick<Pet, 'id' | 'status'>

/** Above all that blocks will give, so that nobody is given one of these, and below 2^53. */
const firstId = 8_000_000_000_000_000

/** Pets that stand in the log without anybody having asked for them. Their ids follow each other. */
export async function fillWithPets(environment: Environment, count: number): Promise<StandingPet[]> {
  await fillLog('kafka', environment, { pets: count, from: firstId })
  const ids = Array.from({ length: count }, (_, n) => firstId + n)
  return ids.map((id) => ({ id, status: petStatuses[id % petStatuses.length] ?? '' }))
}

/** They read the pets of `fillWithPets` from anywhere in the list to its end as well, and ids that nobody has. */
export function browsing(pets: readonly StandingPet[]): WorkOf {
  return (random) => {
    const others = reading(pets)(random)
    return {
      *act() {
        yield* others.act()
        const { id, status } = random.pick(pets)
        yield { operation: 'getPet', id: id + pets.length }
        yield pageFrom(id, 50)
        yield pageFrom(id, 50, status)
        yield pageFrom(random.pick(pets.slice(-50)).id, 50)
      },
    }
  }
}

/** They add pets, and look at each at once, by id and in the list, whether or not it can be read yet. */
export function looking(random: Random): Work {
  return {
    *act() {
      const answer = yield* addPet(random, { waitSeconds: 0 })
      if (answer?.status !== 201) return
      const { id } = answer.body as Pet
      yield { operation: 'getPet', id }
      yield pageFrom(id, 1)
    },
  }
}

/** They do now the one, now the other. */
export function mixing(...worksOf: readonly WorkOf[]): WorkOf {
  return (random) => {
    const works = worksOf.map((workOf) => workOf(random))
    return {
      *act() {
        yield* random.pick(works).act()
      },
      tell(answer) {
        for (const work of works) work.tell?.(answer)
      },
    }
  }
}

/** The page that begins with this id. */
function pageFrom(id: number, limit: number, status?: string): Asked {
  const filter = status === undefined ? '' : `&status=${status}`
  const page = { after: id - 1, limit, ...(status !== undefined && { filters: { status } }) }
  const path = `/v1/pets?limit=${limit}&cursor=${writeCursor(id - 1, status)}${filter}`
  return { operation: 'listPets', page, ...(id > 1 && { path }) }
}
