/**
 * An integer that a double cannot hold comes as bigint, so that none is shown rounded.
 * @param {string} text
 * @returns {unknown}
 */
export function parseExact(text) {
  /** @param {string} _name @param {unknown} value @param {{ source?: string }} [context] */
  const exact = (_name, value, { source = '' } = {}) => {
    const isRounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    return isRounded && /^-?\d+$/.test(source) ? BigInt(source) : value
  }
  return JSON.parse(text, exact)
}

/**
 * JSON text for people; none for what is not there.
 * @param {unknown} value
 */
export function written(value) {
  const { rawJSON = String } = /** @type {{ rawJSON?: (text: string) => unknown }} */ (JSON)
  /** @param {string} _name @param {unknown} each */
  const exact = (_name, each) => (typeof each === 'bigint' ? rawJSON(String(each)) : each)
  return JSON.stringify(value, exact, 2) ?? ''
}

/**
 * What others wrote, as text: of an object `String` may throw.
 * @param {unknown} value
 */
export function textOf(value) {
  return typeof value === 'object' ? written(value) : String(value)
}
