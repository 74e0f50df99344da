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

/** Settles as `promise` does, or resolves to undefined once the signal is aborted, which remembers nothing of it afterwards. */
export async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const abort = () => resolve(undefined)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort)
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
