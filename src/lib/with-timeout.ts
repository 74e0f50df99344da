/**
 * Settles as `promise` does, or rejects with `late` once `limitMs` have passed. What is under way goes on: end it by its
 * own means.
 */
export async function withTimeout<T>(
  limitMs: number,
  promise: Promise<T>,
  late = () => new Error(`not within ${Math.round(limitMs)} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), limitMs)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
