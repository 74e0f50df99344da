import { ServiceError } from '../lib/errors/errors.ts'

const nameMax = 80

/**
 * A stored piece is not what was stored there: it has another type, or a text that cannot be read. It counts as missing:
 * what shows it is read_model_rebuilding, and its generation is replaced (decision 0007).
 */
export class DamagedError extends ServiceError {
  /** Names the piece, without what is in it. */
  readonly damage: string

  constructor(damage: string, options?: ErrorOptions) {
    super('read_model_rebuilding', `The read models are damaged: ${damage}.`, options)
    this.name = 'DamagedError'
    this.damage = damage
  }
}

/** A name in a message, which others may have chosen. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > nameMax ? `${name.slice(0, nameMax)}…` : name)
}

/** 0..2^53 - 1, in decimal as the engine writes it; undefined for any other text. */
export function numberIn(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:0|[1-9]\d{0,15})$/.test(text)) return undefined
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : undefined
}

/** 0..2^53 - 1. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
