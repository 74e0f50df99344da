import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from './errors/errors.ts'

interface RetryOptions {
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
}

const retryForMs = 30_000
const retryEveryMs = 50

/**
 * Retries transient errors for 30 s, so that work of minutes survives a short outage of log or read models, of which it
 * tells once. Throws the ServiceError once that time is up or the signal aborts, and any other error at once.
 */
export async function retry<T>(ask: () => Promise<T>, { logger, signal }: RetryOptions): Promise<T> {
  let failingSince: number | undefined
  for (;;) {
    try {
      const answer = await ask()
      if (failingSince !== undefined) logger.info('log and read models answer again')
      return answer
    } catch (error) {
      const isFirst = failingSince === undefined
      // Measured from the first failure, not from the last answer: a process that was suspended did not wait for
      // anything.
      failingSince ??= performance.now()
      const isOver = performance.now() - failingSince >= retryForMs || signal?.aborted
      if (!(error instanceof ServiceError) || isOver) throw error
      if (isFirst) logger.warn({ err: error }, 'log or read models do not answer, trying again')
    }
    await delay(retryEveryMs, undefined, { signal }).catch(() => {})
  }
}
