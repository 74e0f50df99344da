/** An integer that a double cannot hold comes as bigint, so that none is shown rounded. */
export function parseExact(text) {
  return JSON.parse(text, (_name, value, context) => {
    const isRounded = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    return isRounded && /^-?\d+$/.test(context?.source ?? '') ? BigInt(context.source) : value
  })
}

/** JSON text for people; none for what is not there. */
export function written(value) {
  const exact = (_name, each) => (typeof each === 'bigint' ? (JSON.rawJSON?.(String(each)) ?? String(each)) : each)
  return JSON.stringify(value, exact, 2) ?? ''
}

/** What others wrote, as text: of an object `String` may throw. */
export function textOf(value) {
  return typeof value === 'object' ? written(value) : String(value)
}
