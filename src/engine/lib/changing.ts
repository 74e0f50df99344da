/** A value, or how to ask for it anew where it may change while the process runs; asking throws where it cannot be told. */
export type Changing<T extends string | boolean | object> = T | (() => T)

export function current<T extends string | boolean | object>(value: Changing<T>): T {
  return typeof value === 'function' ? value() : value
}
