import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ServiceError } from '../lib/errors.ts'

export interface PatienceOptions {
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
}

/** So long log or read models may stay away. */
const patienceMs = 30_000
const retryMs = 50

/**
 * Asks again while log or read models are away: work of minutes is not given up for a moment's silence. Throws the
 * ServiceError once they stay away or the signal is given, and any other error at once.
 */
export async function patiently<T>(ask: () => Promise<T>, { logger, signal }: PatienceOptions): Promise<T> {
  let failingSince: number | undefined
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      // From the first failure on, not from the last answer: a process that was suspended has waited for nothing.
      failingSince ??= performance.now()
      const isPatient = performance.now() - failingSince < patienceMs && !signal?.aborted
      if (!(error instanceof ServiceError) || !isPatient) throw error
      logger.warn({ err: error }, 'asks again')
    }
    await delay(retryMs, undefined, { signal }).catch(() => {})
  }
}
