/**
 * Parses JSON without losing a digit. An integer beyond ±(2^53 - 1) becomes a bigint. A number that is not an integer
 * but would be rounded to one (`1.00000000000000000001`, `1e-400`) becomes NaN, which no schema accepts.
 */

// A double distinguishes all decimals of up to 15 significant digits, so only a longer run of digits or an exponent can
// change by rounding. Either must be where a number begins, so text within strings seldom matters.
const mayRound = /(?:^|[\s:,[])-?\d(?:[\d.]{15}|[\d.]*[eE])/

/** Throws SyntaxError as JSON.parse does. */
export function parseExactJson(text: string): unknown {
  return mayRound.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
}

// The third argument is the JSON.parse source text access proposal (ECMAScript stage 4), missing from TypeScript's lib.
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value
  const exact = exactInteger(context?.source ?? '')
  if (exact === undefined) return Number.isInteger(value) ? Number.NaN : value
  return Number.isSafeInteger(value) ? value : exact
}

/**
 * Characters of a number. A longer number is no integer that anything here accepts, and parsing it would take too long.
 */
const numberLengthMax = 400
const numberText = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/

/**
 * The integer that the text of a JSON number denotes; undefined if it denotes none, and if the text or its exponent is
 * too long.
 */
export function exactInteger(source: string): bigint | undefined {
  const match = source.length > numberLengthMax ? null : numberText.exec(source)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = whole + fraction
  if (shift > numberLengthMax) return /^0*$/.test(digits) ? 0n : undefined
  if (shift >= 0) return BigInt(sign + digits + '0'.repeat(shift))
  const kept = digits.slice(0, shift)
  return /^0*$/.test(digits.slice(shift)) ? BigInt(sign + (kept || '0')) : undefined
}

/** Missing in TypeScript's lib, as is `context` above (ECMAScript stage 4, in Node since 21). */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** JSON text with every digit of a bigint. Throws TypeError for what is no JSON. */
export function exactJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? rawJSON(String(part)) : part))
  if (text === undefined) throw new TypeError(`${typeof value} cannot be written as JSON`)
  return text
}
