import type { FastifyRequest } from 'fastify'
import type { AuditedAction } from '../lib/audit.ts'
import type { ErrorCode } from '../lib/errors.ts'

/** Codes of requests refused because of who sends them, not what they ask for. */
const codes: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'insufficient_scope',
  'too_many_requests',
  'quota_exceeded',
])

const writtenEveryMs = 10_000
/** Lines at a time: a client with many addresses must not fill the log. */
const linesMax = 20

interface Refused {
  readonly code: ErrorCode
  readonly address: string
  readonly keyId: string | undefined
  count: number
}

/** Writes one line per address and key for all requests refused within some seconds. */
export class Refusals {
  readonly #audit: (action: AuditedAction, details: object) => void
  readonly #refused = new Map<string, Refused>()
  readonly #timer = setInterval(() => this.#write(), writtenEveryMs).unref()
  #others = 0

  constructor(audit: (action: AuditedAction, details: object) => void) {
    this.#audit = audit
  }

  note(code: ErrorCode, { ip: address, holder }: FastifyRequest): void {
    if (!codes.has(code)) return
    const keyId = holder?.keyId
    const name = `${code} ${address} ${keyId}`
    const known = this.#refused.get(name)
    if (known !== undefined) known.count++
    else if (this.#refused.size < linesMax) this.#refused.set(name, { code, address, keyId, count: 1 })
    else this.#others++
  }

  close(): void {
    clearInterval(this.#timer)
    this.#write()
  }

  #write(): void {
    const seconds = writtenEveryMs / 1000
    for (const refused of this.#refused.values()) this.#audit('requests refused', { ...refused, seconds })
    if (this.#others > 0) this.#audit('requests refused', { code: 'of others', count: this.#others, seconds })
    this.#refused.clear()
    this.#others = 0
  }
}
