import type { Offset } from '../event-log/event-log.ts'

/** The first event in log order under an idempotency key: what every later one under that key is answered with. */
export interface KeyDecision {
  readonly key: string
  readonly offset: Offset
  /** Of the request that the event came from: another one under the same key is refused. */
  readonly fingerprint: string
  readonly subject: string
}

/** As stored under its key: `offset fingerprint subject`. */
export function encodeDecision({ offset, fingerprint, subject }: KeyDecision): string {
  return `${offset} ${fingerprint} ${subject}`
}

export function decodeDecision(key: string, text: string): KeyDecision {
  const [, offset, fingerprint = '', subject = ''] = /^(\d+) (\S*) (.*)$/s.exec(text) ?? []
  if (offset === undefined) throw new Error(`no decision: ${text}`)
  return { key, offset: Number(offset), fingerprint, subject }
}
