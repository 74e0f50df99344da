import { checkToken, type Floor, firstPrefix, judge, nameOf, recordsFor, type Verdict } from './answers.ts'
import { checkStep, shownByStep } from './events.ts'
import { type Contradiction, contradiction, type Exchange, type History, isSuccess } from './history.ts'
import { InstanceFloors } from './instance-floors.ts'
import { answersOf, collectionOf, type PartitionAnswer, pageFlaw } from './pages.ts'
import type { Prefixes } from './prefixes.ts'
import { checkReason, isReasoned } from './refusals.ts'

/**
 * Each read is a prefix of each partition, not below its token, nor below what the same instance showed before, to
 * those who follow the events too, nor below the writes that it said were applied. Each refusal of a command has its
 * reason in such a prefix.
 */
export function* checkReads({ exchanges }: History, prefixes: Prefixes): Generator<Contradiction> {
  const floors = new InstanceFloors()
  const told = exchanges.filter((exchange) => isRead(exchange) || isAppliedWrite(exchange) || isReasoned(exchange))
  for (const { exchange, isAnswer } of inTimeOrder(told)) {
    if (!isAnswer) floors.sent(exchange)
    else if (isReasoned(exchange)) yield* checkReason(exchange, prefixes, floors)
    else if (isAppliedWrite(exchange)) floors.answered(exchange, appliedBy(exchange, prefixes))
    else if (exchange.operation === 'followEvents') {
      yield* checkStep(exchange, prefixes)
      floors.answered(exchange, shownByStep(exchange))
    } else yield* checkRead(exchange, prefixes, floors)
  }
}

function isRead(exchange: Exchange): boolean {
  if (exchange.operation === 'followEvents') return isSuccess(exchange)
  if (collectionOf(exchange) === undefined) return false
  return isSuccess(exchange) || exchange.code === 'pet_not_found' || exchange.code === 'order_not_found'
}

/** Only a pet that was added without a key may be readable later. */
function isAppliedWrite({ operation, status, isApplied = true }: Exchange): boolean {
  const isWrite = operation === 'createPet' || operation === 'placeOrder' || operation === 'updateOrder'
  return isWrite && (status === 200 || status === 201) && isApplied
}

function appliedBy({ number }: Exchange, prefixes: Prefixes): ReadonlyMap<number, number> {
  const record = prefixes.effectOf(number)?.record
  return new Map(record === undefined ? [] : [[record.partition, record.offset + 1]])
}

/** At one moment, what was sent comes first: an answer of that moment promises it nothing. */
function inTimeOrder(reads: readonly Exchange[]) {
  const events = reads.flatMap((exchange) => [
    { exchange, isAnswer: false, ms: exchange.sentMs },
    { exchange, isAnswer: true, ms: exchange.answeredMs },
  ])
  return events.sort((one, other) => one.ms - other.ms || Number(one.isAnswer) - Number(other.isAnswer))
}

function* checkRead(exchange: Exchange, prefixes: Prefixes, floors: InstanceFloors): Generator<Contradiction> {
  const shown = new Map<number, number>()
  const flaw = pageFlaw(exchange)
  const answers = flaw === undefined ? answersOf(exchange, prefixes) : []
  if (flaw !== undefined) {
    yield contradiction('impossible read', `${nameOf(exchange)}: ${flaw}.`, [exchange])
  }
  for (const answer of answers) {
    const largest = prefixes.largestAt(answer.partition, exchange.answeredMs)
    const ofInstance = floors.of(exchange, answer.partition)
    const verdict = judge(answer.claims, Math.max(answer.tokenFloor, ofInstance.n), largest)
    if (verdict.flaw === undefined) shown.set(answer.partition, verdict.n)
    else {
      const isOfToken = judge(answer.claims, answer.tokenFloor, largest).flaw !== undefined
      const floor = isOfToken ? { n: answer.tokenFloor } : ofInstance
      const records = recordsFor(prefixes, answer.claims, floor.n)
      yield { ...flawed(exchange, answer.partition, verdict.flaw, floor), records }
    }
  }
  floors.answered(exchange, shown)
  const isTold = exchange.token !== undefined || exchange.tokenAfter !== undefined
  if (isTold) yield* checkToken(exchange, toldIn(answers), prefixes)
}

/** The last record of each partition that the documents in an answer need. */
function toldIn(answers: readonly PartitionAnswer[]): [number, number][] {
  return answers.flatMap(({ partition, claims, showsDocuments, tokenFloor }): [number, number][] => {
    const n = showsDocuments ? firstPrefix(claims, tokenFloor) : undefined
    return n === undefined ? [] : [[partition, n - 1]]
  })
}

type Flaw = Exclude<Verdict['flaw'], undefined>

function flawed(exchange: Exchange, partition: number, flaw: Flaw, { n, by }: Floor): Contradiction {
  const why = by === undefined ? 'its token names' : `the same instance had shown in ${nameOf(by)}`
  const whats: Readonly<Record<Flaw, string>> = {
    impossible: `is what no prefix of partition ${partition} shows`,
    stale: `is older than the prefix ${n} of partition ${partition}, which ${why}`,
    'of the future': `shows of partition ${partition} what was not asked for yet`,
  }
  const rule = flaw === 'of the future' ? 'read of the future' : `${flaw} read`
  const exchanges = flaw === 'stale' && by !== undefined ? [by, exchange] : [exchange]
  return contradiction(rule, `${nameOf(exchange)} ${whats[flaw]}.`, exchanges)
}
