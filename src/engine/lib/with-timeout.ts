/**
 * Settles as `promise` does, or rejects with `late` after `limitMs`. The operation itself continues; the caller must
 * end it.
 */
export async function withTimeout<T>(
  limitMs: number,
  promise: Promise<T>,
  late = () => new Error(`not within ${Math.round(limitMs)} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.max(0, limitMs)) // a deadline may be over
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves once the signal is aborted. */
export function abortOf(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  else signal.addEventListener('abort', () => resolve(), { once: true })
  return promise
}
