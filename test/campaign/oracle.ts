import { setTimeout as delay } from 'node:timers/promises'
import type { Result } from '../brokers/program.ts'
import { type Contradiction, contradiction, type Exchange, type History } from '../judge/history.ts'
import { checkAgainstLog } from '../judge/judge.ts'
import type { Operation } from '../judge/operations.ts'
import { runProgramOf } from './faults/operators.ts'
import type { Recorder } from './recorder.ts'
import type { Served } from './served.ts'
import { apiKey, type Scenario } from './system/scenario.ts'
import type { Supervised } from './system/supervised.ts'

const healedWithinMs = 30_000

/** A process that has stood still takes requests that came meanwhile for late ones. */
const notInTime = '408 request_timeout'
const unreadable = [notInTime, '503 read_model_unavailable', '503 read_model_rebuilding', '503 read_model_behind']
const noLog = '503 event_log_unavailable'
const unwritable = [...unreadable, noLog, '503 overloaded', '503 conflict', '504 append_outcome_unknown']

/** What the clients of the campaign may be answered: no one else uses it, so there is no parked event and no limit. */
const expected: Readonly<Record<Operation, ReadonlySet<string>>> = {
  createPet: new Set(['201', ...unwritable]),
  updatePet: new Set(['200', '404 pet_not_found', '412 precondition_failed', ...unwritable]),
  removePet: new Set(['204', '404 pet_not_found', '409 pet_is_ordered', '412 precondition_failed', ...unwritable]),
  placeOrder: new Set(['201', '409 pet_not_available', '422 unknown_pet', ...unwritable]),
  updateOrder: new Set([
    '200',
    '404 order_not_found',
    '409 order_transition_invalid',
    '412 precondition_failed',
    ...unwritable,
  ]),
  getPet: new Set(['200', '304', '404 pet_not_found', ...unreadable]),
  getOrder: new Set(['200', '304', '404 order_not_found', ...unreadable]),
  listPets: new Set(['200', ...unreadable]),
  listOrders: new Set(['200', ...unreadable]),
  listEvents: new Set(['200', '404 pet_not_found', ...unreadable, noLog]),
  createCategory: new Set(['201', ...unwritable]),
  updateCategory: new Set(['200', '404 category_not_found', '412 precondition_failed', ...unwritable]),
  removeCategory: new Set(['204', '404 category_not_found', '412 precondition_failed', ...unwritable]),
  getCategory: new Set(['200', '304', '404 category_not_found', ...unreadable]),
  listCategories: new Set(['200', ...unreadable]),
  listCategoryEvents: new Set(['200', '404 category_not_found', ...unreadable, noLog]),
  addBook: new Set(['201', ...unwritable]),
  getBook: new Set(['200', '304', '404 book_not_found', ...unreadable]),
  listBooks: new Set(['200', ...unreadable]),
  listBookEvents: new Set(['200', '404 book_not_found', ...unreadable, noLog]),
  lendBook: new Set(['201', '409 book_is_lent', '422 unknown_book', ...unwritable]),
  changeLoan: new Set(['200', '404 loan_not_found', '409 loan_is_over', '412 precondition_failed', ...unwritable]),
  getLoan: new Set(['200', '304', '404 loan_not_found', ...unreadable]),
  listLoans: new Set(['200', ...unreadable]),
  reserveBook: new Set(['201', '409 book_is_in', '409 line_is_full', '422 unknown_book', ...unwritable]),
  getReservation: new Set(['200', '304', '404 reservation_not_found', ...unreadable]),
  listReservations: new Set(['200', ...unreadable]),
  followEvents: new Set(['200', notInTime, noLog]),
}

/**
 * What the judge finds, and answers that nobody expects. `isWhole`: the history has all that was asked of the service, and
 * not just what came after a loss or before it.
 */
export function contradictionsOf(history: History, partitions: number, isWhole: boolean): Contradiction[] {
  return [...history.exchanges.flatMap(unexpected).slice(0, 20), ...checkAgainstLog(history, partitions, isWhole)]
}

function unexpected(exchange: Exchange): Contradiction[] {
  const { operation, status, malformed } = exchange
  if (malformed !== undefined)
    return [contradiction('malformed answer', `${operation} was answered ${malformed}`, [exchange])]
  if (status === undefined || expected[operation].has(textOf(exchange))) return []
  return [contradiction('unexpected answer', `${operation} was answered ${textOf(exchange)}`, [exchange])]
}

/** After the last fault all is served within 30 s by itself, and `verify` finds nothing. Resolves to what was not so. */
export async function healed(scenario: Scenario, recorder: Recorder): Promise<Contradiction[]> {
  const deadline = performance.now() + healedWithinMs
  const late = await servedAgain(scenario, recorder, 'the last fault')
  return [...late, ...(await verified(scenario, deadline))]
}

/** Within 30 s each process adds something, and lists what was added. Resolves to what was not so. */
export async function servedAgain(
  { apis, served }: Scenario,
  recorder: Recorder,
  after: string,
): Promise<Contradiction[]> {
  const deadline = performance.now() + healedWithinMs
  const late: Contradiction[] = []
  for (const api of apis) {
    const key = `served ${api.name} ${performance.now()}`
    for (;;) {
      const answers = await addAndList(api, recorder, served, key)
      if (answers === '201 200' && (await api.isReady())) break
      if (performance.now() > deadline) {
        late.push(contradiction('not served again', `${api.instance}, 30 s after ${after}: ${answers}`))
        break
      }
      await delay(100)
    }
  }
  return late
}

/** Resolves to the two statuses, with codes. */
async function addAndList(api: Supervised, recorder: Recorder, served: Served, key: string): Promise<string> {
  const asked = { session: undefined, apiKey }
  const added = await recorder.ask(api, { ...served.adding(key), ...asked })
  if (added?.tokenAfter === undefined) return textOf(added)
  const page = { after: 0, limit: 100 }
  const listed = await recorder.ask(api, { operation: served.listing, page, token: added.tokenAfter, ...asked })
  return `${textOf(added)} ${textOf(listed)}`
}

function textOf(answer: Exchange | undefined): string {
  return [answer?.status ?? 'no answer', answer?.code].filter((part) => part !== undefined).join(' ')
}

/** At the deadline at the latest, `verify` finds nothing, and nothing is parked. Resolves to what was not so. */
export async function verified({ environment, served }: Scenario, deadline: number): Promise<Contradiction[]> {
  for (;;) {
    const isLast = performance.now() > deadline
    const verify = await runProgramOf(served, environment, 'verify', '--json')
    const isEqual = verify.code === 0 && JSON.parse(verify.output).differences.length === 0
    const parked = await runProgramOf(served, environment, 'parked', 'list', '--json')
    if (isEqual && parked.code === 0 && JSON.parse(parked.output).length === 0) return []
    if (isLast && !isEqual) return [contradiction('verify finds differences', textOfRan(verify))]
    if (isLast) return [contradiction('events are parked', textOfRan(parked))]
  }
}

function textOfRan({ output, errors }: Result): string {
  return `${output.slice(0, 2000)} ${errors.slice(-2000)}`
}
