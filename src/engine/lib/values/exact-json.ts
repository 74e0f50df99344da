/**
 * Parses JSON without losing a digit. An integer beyond ±(2^53 - 1) becomes a bigint. A number that is not an integer
 * but would be rounded to one (`1.00000000000000000001`, `1e-400`) becomes NaN, which no schema accepts.
 */

/** A double distinguishes all decimals of up to so many significant digits. */
const digitsOfDouble = 15
// So only a longer run of digits or an exponent can change by rounding. Either must be where a number begins: text within
// strings seldom matters.
const longBeginning = String.raw`-?\d(?:[\d.]{15}|[\d.]*[eE])`
const mayRound = new RegExp(String.raw`(?:^|[\s:,[])${longBeginning}`)
const numberAlone = String.raw`(?<![\w.+-])-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])`
/** A string without an end takes all that follows: to look for the end of each would cost the square of their number. */
const stringOrLongNumber = new RegExp(String.raw`"(?:[^"\\]|\\.)*"?|(?=${longBeginning})${numberAlone}`, 'gs')

/** Stands for the first long number, twice as much for the second one. Every other number is smaller. */
const placeholder = 1e200

/**
 * Throws SyntaxError as JSON.parse does, and RangeError for what is nested too deeply. Each long number is read by itself, as
 * JSON.parse takes 30 times as long when it tells what each value was written as.
 */
export function parseExactJson(text: string): unknown {
  if (!mayRound.test(text)) return JSON.parse(text)
  const numbers: (number | bigint)[] = []
  const placed = text.replaceAll(stringOrLongNumber, (found) =>
    found.startsWith('"') ? found : `${numbers.push(exactNumber(found))}e200`,
  )
  return fillIn(JSON.parse(placed), numbers)
}

/** Far from what overflows the stack, so that it does not depend on who calls whether a text can be read. */
const depthMax = 2500

/** Changes `value`: each number comes back in its place. */
function fillIn(value: unknown, numbers: readonly (number | bigint)[], depth = 0): unknown {
  if (typeof value === 'number') return value < placeholder ? value : numbers[Math.round(value / placeholder) - 1]
  if (typeof value !== 'object' || value === null) return value
  if (depth === depthMax) throw new RangeError('nested too deeply')
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) value[i] = fillIn(value[i], numbers, depth + 1)
  else {
    const members = value as Record<string, unknown>
    for (const name of Object.keys(members)) members[name] = fillIn(members[name], numbers, depth + 1)
  }
  return value
}

function exactNumber(source: string): number | bigint {
  const value = Number(source)
  if (source.length <= digitsOfDouble && value !== 0 && Number.isSafeInteger(Math.trunc(value))) return value
  const exact = exactInteger(source)
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
  if (shift >= 0) return BigInt(sign + digits) * powerOfTen(shift)
  const kept = digits.slice(0, shift)
  return /^0*$/.test(digits.slice(shift)) ? BigInt(sign + (kept || '0')) : undefined
}

/** Each once: six characters of a text can ask for 400 digits. */
const powersOfTen: bigint[] = []

function powerOfTen(exponent: number): bigint {
  powersOfTen[exponent] ??= 10n ** BigInt(exponent)
  return powersOfTen[exponent]
}

/** Missing in TypeScript's lib (ECMAScript stage 4, in Node since 21). */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** JSON text with every digit of a bigint. Throws TypeError for what is no JSON. */
export function exactJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? rawJSON(String(part)) : part))
  if (text === undefined) throw new TypeError(`${typeof value} cannot be written as JSON`)
  return text
}
