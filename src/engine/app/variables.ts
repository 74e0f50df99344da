import { Type } from 'typebox'

type Pattern = { readonly pattern: string; readonly 'x-rule': string }

export function integer(fallback: number, [minimum, maximum]: readonly [number, number]) {
  return Type.Integer({ minimum, maximum, default: fallback })
}

export function text(fallback: string, pattern?: Pattern) {
  return Type.String({ default: fallback, ...pattern })
}

export function optionalText(pattern?: Pattern) {
  return Type.Optional(Type.String({ ...pattern }))
}

/** A problem with the environment; the message names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export function list(text = ''): readonly string[] {
  const items = text.split(',').map((item) => item.trim())
  return items.filter((item) => item !== '')
}
