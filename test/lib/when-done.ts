import { beforeAll, onTestFinished } from 'vitest'

/** What ends what the tests of a suite share, while that is being made. */
let ofSuite: AsyncDisposableStack | undefined

/** Calls `end` after the test, or after the suite where it is what its tests share that is being made. */
export function whenDone(end: () => unknown): void {
  if (ofSuite === undefined) onTestFinished(async () => void (await end()))
  else ofSuite.defer(async () => void (await end()))
}

/** What all tests of a suite share: made before the first of them, and ended after the last. */
export function shared<T>(make: () => Promise<T>): () => T {
  const made: { value?: T } = {}
  beforeAll(async () => {
    await using stack = new AsyncDisposableStack()
    ofSuite = stack
    try {
      made.value = await make()
    } finally {
      ofSuite = undefined
    }
    const kept = stack.move()
    return () => kept.disposeAsync()
  })
  return () => made.value as T
}
