import { setTimeout as delay } from 'node:timers/promises'
import { checkAgainstLog } from './checkers/log-checker.ts'
import { checkPets } from './checkers/pet-checker.ts'
import { petstore } from './faults/operators.ts'
import type { Contradiction, Exchange, History } from './history.ts'
import type { Recorder } from './recorder.ts'
import { apiKey, type Scene } from './system/scene.ts'

const healedWithinMs = 30_000

/** Answers that the clients of the campaign may get, in addition to 2xx, 503, 504 and those that both checkers look at. */
const expected = new Set([
  'pet_not_available',
  'order_transition_invalid',
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
    ...checkAgainstLog(history, partitions),
    ...(isWhole ? checkPets(history) : []),
  ]
}

function isUnexpected({ status = 503, code = '' }: Exchange): boolean {
  return status >= 400 && status !== 401 && status !== 503 && status !== 504 && !expected.has(code)
}

/**
 * After the last fault everything is served within 30 s by itself: each process adds a pet under a key and lists, all that was
 * added included; and `petstore verify` finds nothing. Resolves to what was not so.
 */
export async function healed(scene: Scene, recorder: Recorder): Promise<Contradiction[]> {
  const deadline = performance.now() + healedWithinMs
  const late: Contradiction[] = []
  for (const api of scene.apis) {
    let last = 'nothing'
    let attempt = 0
    const key = `healed ${api.name} ${performance.now()}`
    for (;;) {
      const asked = { session: undefined, apiKey } as const
      const own = { idempotencyKey: key, wanted: { name: key, categoryId: 1 } }
      const created = await recorder.ask(api, { operation: 'createPet', ...own, ...asked })
      const token = created?.tokenAfter
      const listed =
        token === undefined
          ? created
          : await recorder.ask(api, { operation: 'listPets', page: { after: 0, limit: 100 }, token, ...asked })
      if (created?.status === 201 && listed?.status === 200 && (await api.isReady())) break
      last = `${created?.status} ${created?.code ?? ''}, ${listed?.status} ${listed?.code ?? ''}`
      if (performance.now() > deadline) {
        late.push(wrong('not served again', `${api.instance}, 30 s after the last fault: ${last}, attempt ${attempt}`))
        break
      }
      attempt++
      await delay(100)
    }
  }
  return [...late, ...(await verified(scene, deadline))]
}

async function verified({ environment }: Scene, deadline: number): Promise<Contradiction[]> {
  for (;;) {
    const isLast = performance.now() > deadline
    const { code, output, errors } = await petstore(environment, 'verify', '--json')
    if (code === 0 && JSON.parse(output).differences.length === 0) return []
    if (isLast) return [wrong('verify finds differences', `${output.slice(0, 2000)} ${errors.slice(-2000)}`)]
  }
}
