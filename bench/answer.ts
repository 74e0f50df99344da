import { headersOf, type Load } from './load/load.ts'

/** The answer to the first request of a load, as far as two systems have to agree. */
export interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

/** Throws when the status says that the request failed. */
export async function answerOf(url: string, load: Load): Promise<Answer> {
  const { method, paths, body } = load
  const response = await fetch(`${url}${paths[0]}`, { method, headers: headersOf(load), body: body ?? null })
  const { status, ok, headers } = response
  const text = await response.text()
  if (!ok) throw new Error(`${method} ${url}${paths[0]}: ${status} ${text}`)
  return { status, type: headers.get('content-type'), body: text }
}

/** Two pets that differ in nothing else are answered alike. */
export function withoutId(answer: Answer): Answer {
  return { ...answer, body: answer.body.replace(/^\{"id":\d+/, '{"id":0') }
}

/** Throws where a reference answers otherwise than the service. */
export function refuseDifference(reference: string, answer: Answer, service: Answer): void {
  const same = answer.status === service.status && answer.type === service.type && answer.body === service.body
  if (!same)
    throw new Error(`the ${reference} server answers ${JSON.stringify(answer)}, not ${JSON.stringify(service)}`)
}
