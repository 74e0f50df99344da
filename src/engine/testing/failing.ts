import { AssertionError } from 'node:assert'
import { inspect } from 'node:util'

/** What a test that fails is told. Node adds where `actual` and `expected` differ, where both are given. */
export function failed(message: string, compared?: { readonly actual: unknown; readonly expected: unknown }) {
  return new AssertionError({ message, ...compared, ...(compared && { operator: 'deepStrictEqual' }) })
}

/** A value in one line, as the test has it. */
export function shown(value: unknown): string {
  return inspect(value, { depth: 6, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 200 })
}

/** Whatever is thrown meanwhile has a stack that begins where the test called. */
export function calledAs<Result>(called: (...args: never[]) => unknown, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    if (error instanceof AssertionError) Error.captureStackTrace(error, called)
    throw error
  }
}
