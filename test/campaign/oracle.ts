import { setTimeout as delay } from 'node:timers/promises'
import { checkAgainstLog } from './checkers/log-checker.ts'
import { checkPets } from './checkers/pet-checker.ts'
import { petstore } from './faults/operators.ts'
import type { Contradiction, Exchange, History } from './history.ts'
import type { Recorder } from './recorder.ts'
import { apiKey, type Scenario } from './system/scenario.ts'
import type { Supervised } from './system/supervised.ts'

const healedWithinMs = 30_000

/** Answers that the clients of the campaign may get, in addition to 2xx, 503, 504 and those that both checkers look at. */
const expected = new Set([
  'pet_not_available',
  'order_transition_invalid',
  'precondition_failed',
  'pet_not_found',
  'order_not_found',
  'unknown_pet',
])

export function wrong(rule: string, what: string, exchanges: readonly Exchange[] = []): Contradiction {
  return { rule, what, exchanges, records: [] }
}

/** What the two checkers find, and answers that nobody expects. The second one knows no log, so it needs all exchanges. */
export function contradictionsOf(history: History, partitions: number, isWhole: boolean): Contradiction[] {
  return [
    ...history.exchanges
      .filter(isUnexpected)
      .slice(0, 20)
      .map((exchange) =>
        wrong('unexpected answer', `${exchange.operation} was answered ${exchange.status} ${exchange.code}`, [
          exchange,
        ]),
      ),
    ...checkAgainstLog(history, partitions, false),
    ...(isWhole ? checkPets(history).contradictions : []),
  ]
}

/** A run in which no follower was told of any event shows nothing about feeds. */
export function followed(histories: readonly History[]): Contradiction[] {
  const hasEvents = ({ operation, body }: Exchange) => operation === 'followEvents' && (body as [] | undefined)?.length
  const isFollowed = histories.some(({ exchanges }) => exchanges.some(hasEvents))
  return isFollowed ? [] : [wrong('nobody followed', 'No follower was told of any event.')]
}

function isUnexpected({ status = 503, code = '' }: Exchange): boolean {
  return status >= 400 && status !== 401 && status !== 503 && status !== 504 && !expected.has(code)
}

/** After the last fault all is served within 30 s by itself, and `petstore verify` finds nothing. Resolves to what was not so. */
export async function healed(scenario: Scenario, recorder: Recorder): Promise<Contradiction[]> {
  const deadline = performance.now() + healedWithinMs
  const late = await servedAgain(scenario, recorder, 'the last fault')
  return [...late, ...(await verified(scenario, deadline))]
}

/** Within 30 s each process adds a pet, and lists what was added. Resolves to what was not so. */
export async function servedAgain({ apis }: Scenario, recorder: Recorder, after: string): Promise<Contradiction[]> {
  const deadline = performance.now() + healedWithinMs
  const late: Contradiction[] = []
  for (const api of apis) {
    const key = `served ${api.name} ${performance.now()}`
    for (;;) {
      const answers = await addAndList(api, recorder, key)
      if (answers === '201 200' && (await api.isReady())) break
      if (performance.now() > deadline) {
        late.push(wrong('not served again', `${api.instance}, 30 s after ${after}: ${answers}`))
        break
      }
      await delay(100)
    }
  }
  return late
}

/** Resolves to the two statuses, with codes. */
async function addAndList(api: Supervised, recorder: Recorder, idempotencyKey: string): Promise<string> {
  const asked = { session: undefined, apiKey }
  const wanted = { name: idempotencyKey, categoryId: 1 }
  const added = await recorder.ask(api, { operation: 'createPet', idempotencyKey, wanted, ...asked })
  if (added?.tokenAfter === undefined) return textOf(added)
  const page = { after: 0, limit: 100 }
  const listed = await recorder.ask(api, { operation: 'listPets', page, token: added.tokenAfter, ...asked })
  return `${textOf(added)} ${textOf(listed)}`
}

function textOf(answer: Exchange | undefined): string {
  return [answer?.status ?? 'no answer', answer?.code].filter((part) => part !== undefined).join(' ')
}

async function verified({ environment }: Scenario, deadline: number): Promise<Contradiction[]> {
  for (;;) {
    const isLast = performance.now() > deadline
    const { code, output, errors } = await petstore(environment, 'verify', '--json')
    if (code === 0 && JSON.parse(output).differences.length === 0) return []
    if (isLast) return [wrong('verify finds differences', `${output.slice(0, 2000)} ${errors.slice(-2000)}`)]
  }
}
