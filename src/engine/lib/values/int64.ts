import { Type } from 'typebox'

/**
 * Signed 64-bit integer: -9223372036854775808..9223372036854775807 (OpenAPI format int64). As `parseExactJson` returns
 * it: a number up to ±(2^53 - 1) and a bigint beyond. So each value has one form, and values can be compared.
 */
export type Int64 = number | bigint

export function isInt64(value: unknown): value is Int64 {
  return typeof value === 'bigint' ? value === BigInt.asIntN(64, value) : Number.isSafeInteger(value)
}

/** Decimal int64 text without plus sign or leading zeros; undefined for anything else. */
export function parseInt64(text: string): Int64 | undefined {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return undefined
  const number = Number(text)
  if (Number.isSafeInteger(number)) return number
  const value = BigInt(text)
  return isInt64(value) ? value : undefined
}

/** An exact int64, published as OpenAPI's integer/int64. */
export const Int64Schema = (options: Int64Options) =>
  Type.Unsafe<Int64>({ type: 'integer', format: 'int64', ...options })

interface Int64Options {
  readonly description: string
  readonly examples?: readonly unknown[]
  /** Says in documents that it may still change. */
  readonly 'x-stability'?: 'beta'
}
