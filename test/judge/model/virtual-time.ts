import { vi } from 'vitest'

const faked = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
  'performance',
] as const
const { setImmediate: realImmediate } = globalThis

/** Does `work` with a clock that stands still unless it is told to move, so that the same work has the same course. */
export async function inVirtualTime<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: [...faked], now: 0 })
  try {
    return await work()
  } finally {
    vi.useRealTimers()
  }
}

/** Lets time pass: the timers due in it fire one by one, each after what the one before set off has come to rest. */
export async function pass(ms: number): Promise<void> {
  let isOver = false
  setTimeout(() => {
    isOver = true
  }, ms)
  await until(() => isOver, ms + 1)
}

/** Lets time pass up to where something holds. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs
  await rest()
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms of virtual time`)
    vi.advanceTimersToNextTimer()
    await rest()
  }
}

/** Lets time pass until the work is done. */
export async function done(work: Promise<unknown>, limitMs: number): Promise<void> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  await until(() => isDone, limitMs)
  await work
}

/** Every promise that waits for no timer settles meanwhile. */
function rest(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve))
}
