import { type Contradiction, contradiction, type History, isSuccess, type Order, type Pet } from './history.ts'
import { checkAnswers, mayHaveEffect, ordersIn, petsIn, type Request, requestsOf } from './pet-answers.ts'
import { isExplained, type Observation, type Write } from './pet-order.ts'
import { Owners, View } from './pet-views.ts'

/** A pet with more writes of which nobody knows whether they happened is not checked: there are too many possibilities. */
export const undecidedMax = 16

export interface PetVerdict {
  readonly contradictions: readonly Contradiction[]
  /** Ids of the pets with too many possibilities. */
  readonly unchecked: readonly number[]
}

/** Finds contradictions in the answers about pets and orders alone, pet by pet. It never looks at events. */
export function checkPets(history: History): PetVerdict {
  const told = { ...history, exchanges: history.exchanges.filter(({ operation }) => !operation.endsWith('Events')) }
  const pets = tellPets(told)
  return {
    contradictions: [...checkAnswers(told), ...pets.filter(isChecked).flatMap(checkPet)],
    unchecked: pets.filter((pet) => !isChecked(pet)).map(({ id }) => id),
  }
}

/** What the exchanges tell about one pet. */
interface ToldPet {
  readonly id: number
  readonly writes: readonly Write[]
  readonly observations: readonly Observation[]
}

function isChecked({ writes }: ToldPet): boolean {
  return writes.filter(({ answeredMs }) => answeredMs === Number.POSITIVE_INFINITY).length <= undecidedMax
}

function checkPet({ id, writes, observations }: ToldPet): Contradiction[] {
  if (isExplained(writes, observations)) return []
  const culprit = observations.find((one) => isExplained(writes, without(observations, one)))
  const free = observations.map((observation) => ({ ...observation, behind: undefined }))
  const rule = isExplained(writes, free)
    ? 'stale read'
    : isExplained(writes, [])
      ? 'no order explains this pet'
      : 'orders overlap'
  const about = rule === 'orders overlap' ? 'its writes' : culprit ? 'the last of these answers' : 'its answers'
  const seen = culprit === undefined ? observations : [culprit]
  const exchanges = [...writes.flatMap(({ attempts }) => attempts), ...seen.map(({ exchange }) => exchange)]
  return [contradiction(rule, `No order of the writes of pet ${id} explains ${about}.`, exchanges)]
}

/** The others, as if this one had not been asked for. */
function without(observations: readonly Observation[], left: Observation): Observation[] {
  const isLeft = (at: number | undefined) => at !== undefined && observations[at] === left
  return observations.map((one) => {
    if (one === left) return { ...one, matches: () => true, behind: undefined }
    return isLeft(one.behind) ? { ...one, behind: left.behind } : one
  })
}

function tellPets(history: History): ToldPet[] {
  const orders = new Map(history.exchanges.flatMap(ordersIn).map(({ id, petId }) => [id, petId]))
  const pets = new Map(history.exchanges.flatMap(petsIn).map((pet) => [pet.id, pet]))
  const owners = new Owners(orders)
  const writesOf = collectWrites(history, owners)
  const observationsOf = collectObservations(history, owners)
  return [...pets.values()].map((pet) => ({
    id: pet.id,
    writes: writesOf(pet),
    observations: observationsOf.get(pet.id) ?? [],
  }))
}

function collectWrites(history: History, owners: Owners): (pet: Pet) => Write[] {
  const creations = requestsOf(history, 'createPet').filter(({ effective }) => effective.length > 0)
  const placings = requestsOf(history, 'placeOrder').filter(({ effective }) => effective.length > 0)
  const updates = history.exchanges.filter((one) => one.operation === 'updateOrder' && mayHaveEffect(one))
  const given = new Set(placings.flatMap(({ told }) => told.flatMap(ordersIn)).map(({ id }) => id))
  const unknownOrders = updates.flatMap(({ id = 0 }) => (owners.petOf(id) === undefined ? [id] : []))
  const creationsOf = Map.groupBy(creations, ({ attempts }) => attempts[0]?.wanted?.name)
  const placingsOf = Map.groupBy(placings, ({ attempts }) => attempts[0]?.id)
  const updatesOf = Map.groupBy(updates, ({ id }) => id)

  return ({ id: petId, name }) => {
    const shown = owners.ordersOf(petId)
    const unplaced = [...new Set([...shown.filter((order) => !given.has(order)), ...unknownOrders])]
    const orders = [...new Set([...shown, ...unplaced])]
    // A pet that was seen was created. An update may have found that nothing was left to do.
    return [
      ...(creationsOf.get(name) ?? []).map((request): Write => {
        const status = (request.attempts[0]?.wanted?.status ?? 'available') as Pet['status']
        return { ...timesOf(request), change: { type: 'create', status }, isCertain: true }
      }),
      ...(placingsOf.get(petId) ?? []).map((request): Write => {
        const order = request.told.flatMap(ordersIn)[0]?.id
        return { ...timesOf(request), change: { type: 'place', order, unplaced } }
      }),
      ...orders
        .flatMap((order) => updatesOf.get(order) ?? [])
        .map((exchange): Write => {
          const { id: order = 0, wanted } = exchange
          const change = { type: 'update', order, status: wanted?.status as Order['status'] } as const
          const request = { attempts: [exchange], effective: [exchange], told: [exchange].filter(isSuccess) }
          return { ...timesOf(request), change, isCertain: false }
        }),
    ]
  }
}

function timesOf({ attempts, effective, told }: Request): Omit<Write, 'change'> {
  return {
    attempts,
    isCertain: told.length > 0,
    sentMs: Math.min(...effective.map(({ sentMs }) => sentMs)),
    answeredMs: Math.min(...told.map(({ answeredMs }) => answeredMs)), // without any: Infinity
  }
}

function collectObservations({ exchanges }: History, owners: Owners): ReadonlyMap<number, Observation[]> {
  const told = new Map<number, Observation[]>()
  /** The index of the last observation that the token of a session includes, for each session and pet. */
  const sessions = new Map<string, Map<number, number>>()
  for (const exchange of exchanges) {
    const { session, token, tokenAfter } = exchange
    const known = sessions.get(session ?? '') ?? new Map<number, number>()
    // A token that was asked for without another one includes nothing from before.
    const isNewToken = token === undefined && tokenAfter !== undefined
    const knownAfter = isNewToken ? new Map<number, number>() : known
    const view = new View(exchange, owners)
    const behindOf = (petId: number) => (token === undefined ? undefined : known.get(petId))
    // Only a list tells of pets that it does not show.
    const hidden = token === undefined || exchange.page === undefined ? [] : known.keys()
    for (const petId of new Set([...view.news, ...hidden])) {
      const shown = view.of(petId)
      const behind = behindOf(petId)
      if (shown === undefined || (!shown.isNews && behind === undefined)) continue
      const observations = told.get(petId) ?? []
      told.set(petId, observations)
      observations.push({ exchange, matches: shown.matches, behind })
      // A refusal may be later than its token.
      if (tokenAfter !== undefined && isSuccess(exchange)) knownAfter.set(petId, observations.length - 1)
    }
    if (session !== undefined) sessions.set(session, knownAfter)
  }
  return told
}
