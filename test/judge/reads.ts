import { checkToken, type Floor, firstPrefix, holdsAt, judge, nameOf, recordsFor, tokenFloor } from './answers.ts'
import { checkStep, shownByStep } from './events.ts'
import { Floors } from './floors.ts'
import { type Contradiction, contradiction, type Exchange, type History, isSuccess } from './history.ts'
import { collectionOf, isOf, isWrite } from './operations.ts'
import { answersOf, type PartitionAnswer, pageFlaw } from './pages.ts'
import type { Prefixes } from './prefixes.ts'
import { checkReason, isReasoned } from './refusals.ts'
import { membersOf } from './values.ts'

/**
 * Each read is a prefix of each partition, the one that its token names if it has one. It is not below the token that was
 * sent, nor below what the same instance showed before, to those who follow the events too, nor below the writes that any
 * instance with the same read models said were applied. Each refusal of a command has its reason in such a prefix.
 */
export function* checkReads({ exchanges }: History, prefixes: Prefixes): Generator<Contradiction> {
  const floors = new Floors()
  const told = exchanges.filter(
    (exchange) => isRead(exchange) || isAppliedWrite(exchange) || isReasoned(exchange, prefixes),
  )
  for (const { exchange, isAnswer } of inTimeOrder(told)) {
    if (!isAnswer) floors.sent(exchange)
    else if (isReasoned(exchange, prefixes)) yield* checkReason(exchange, prefixes, floors)
    else if (isAppliedWrite(exchange)) confirm(exchange, prefixes, floors)
    else if (exchange.operation === 'followEvents') {
      yield* checkStep(exchange, prefixes)
      floors.answered(exchange, shownByStep(exchange))
    } else yield* checkRead(exchange, prefixes, floors)
  }
}

function isRead(exchange: Exchange): boolean {
  if (exchange.operation === 'followEvents') return isSuccess(exchange)
  return !isWrite(exchange) && (isSuccess(exchange) || exchange.code?.endsWith('_not_found') === true)
}

/** Only a pet or a category that was added without a key may be readable later. */
function isAppliedWrite(exchange: Exchange): boolean {
  const { status, isApplied = true } = exchange
  return isWrite(exchange) && (status === 200 || status === 201 || status === 204) && isApplied
}

/** Whoever reads after it was answered, on any instance with the same read models, sees it. */
function confirm(exchange: Exchange, prefixes: Prefixes, floors: Floors): void {
  floors.answered(exchange)
  const { operation, number, body } = exchange
  const created = () => prefixes.document(collectionOf(operation), Number(membersOf(body).id))
  const effect = isOf(exchange, 'update', 'remove') ? prefixes.effectOf(number) : created().states[0]
  if (effect !== undefined) floors.confirmed(exchange, effect.record.partition, effect.since)
}

/** At one moment, what was sent comes first: an answer of that moment promises it nothing. */
function inTimeOrder(reads: readonly Exchange[]) {
  const events = reads.flatMap((exchange) => [
    { exchange, isAnswer: false, ms: exchange.sentMs },
    { exchange, isAnswer: true, ms: exchange.answeredMs },
  ])
  return events.sort((one, other) => one.ms - other.ms || Number(one.isAnswer) - Number(other.isAnswer))
}

function* checkRead(exchange: Exchange, prefixes: Prefixes, floors: Floors): Generator<Contradiction> {
  const shown = new Map<number, number>()
  const flaw = pageFlaw(exchange)
  const answers = flaw === undefined ? answersOf(exchange, prefixes) : []
  if (flaw !== undefined) {
    yield contradiction('impossible read', `${nameOf(exchange)}: ${flaw}.`, [exchange])
  }
  for (const answer of answers) {
    const { partition, claims } = answer
    const floor = floors.of(exchange, partition)
    const largest = prefixes.largestAt(partition, exchange.answeredMs)
    const verdict = judge(claims, Math.max(answer.tokenFloor, floor.n), largest)
    if (verdict.flaw !== undefined) {
      const isOfToken = judge(claims, answer.tokenFloor, largest).flaw !== undefined
      yield flawed(exchange, answer, verdict.flaw, prefixes, isOfToken ? { n: answer.tokenFloor } : floor)
      continue
    }
    const at = namedBy(exchange, partition) ?? verdict.n
    if (at < floor.n) yield flawed(exchange, answer, 'stale', prefixes, floor)
    else if (at > largest) yield flawed(exchange, answer, 'of the future', prefixes, floor)
    else if (at > verdict.n && !holdsAt(claims, at)) yield beyond(exchange, answer, prefixes, at)
    else shown.set(partition, Math.max(at, verdict.n))
  }
  floors.answered(exchange, shown)
  const isTold = exchange.token !== undefined || exchange.tokenAfter !== undefined
  if (isTold) yield* checkToken(exchange, toldIn(answers), prefixes)
}

/** The prefix that the token of an answer names. */
function namedBy({ tokenAfter }: Exchange, partition: number): number | undefined {
  return tokenAfter === undefined ? undefined : tokenFloor(tokenAfter, partition)
}

/** The last record of each partition that the documents in an answer need. */
function toldIn(answers: readonly PartitionAnswer[]): [number, number][] {
  return answers.flatMap(({ partition, claims, showsDocuments, tokenFloor }): [number, number][] => {
    const n = showsDocuments ? firstPrefix(claims, tokenFloor) : undefined
    return n === undefined ? [] : [[partition, n - 1]]
  })
}

type Flaw = 'stale' | 'impossible' | 'of the future'

function flawed(
  exchange: Exchange,
  { partition, claims }: PartitionAnswer,
  flaw: Flaw,
  prefixes: Prefixes,
  { n, by }: Floor,
): Contradiction {
  const why = by === undefined ? 'its token names' : `${nameOf(by)} had shown`
  const whats: Readonly<Record<Flaw, string>> = {
    impossible: `is what no prefix of partition ${partition} shows`,
    stale: `is older than the prefix ${n} of partition ${partition}, which ${why}`,
    'of the future': `shows of partition ${partition} what was not asked for yet`,
  }
  const rule = flaw === 'of the future' ? 'read of the future' : `${flaw} read`
  const exchanges = flaw === 'stale' && by !== undefined ? [by, exchange] : [exchange]
  return contradiction(rule, `${nameOf(exchange)} ${whats[flaw]}.`, exchanges, recordsFor(prefixes, claims, n))
}

function beyond(
  exchange: Exchange,
  { partition, claims }: PartitionAnswer,
  prefixes: Prefixes,
  at: number,
): Contradiction {
  const what = `The token of ${nameOf(exchange)} names the prefix ${at} of partition ${partition}, which is another.`
  return contradiction('token of more than was told', what, [exchange], recordsFor(prefixes, claims, at))
}
