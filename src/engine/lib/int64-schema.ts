import { Type } from 'typebox'
import type { Int64 } from './int64.ts'

/** An exact int64, published as OpenAPI's integer/int64. */
export const Int64Schema = (options: { readonly description: string; readonly examples?: readonly unknown[] }) =>
  Type.Unsafe<Int64>({ type: 'integer', format: 'int64', ...options })
