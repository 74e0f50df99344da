import { vi } from 'vitest'

/** Resolves once `check` passes. The limit is for what never comes: a machine with other work to do is only slow. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, interval: 2 })
}
