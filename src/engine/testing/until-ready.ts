import { pino } from 'pino'
import { ServiceError } from '../lib/errors/errors.ts'
import { retry } from '../lib/retry.ts'

export const silent = pino({ level: 'silent' })

/** Resolves once `/readyz`, which is asked for, says that reads and writes are served. */
export async function untilReady(ask: () => Promise<{ readonly status: number; readonly body: string }>) {
  const probe = async () => {
    const { status, body } = await ask()
    if (status !== 200) throw new ServiceError('read_model_unavailable', `The service is not ready: ${body}`)
  }
  await retry(probe, { logger: silent })
}
