// Swagger UI reads and writes JSON by JSON.parse and JSON.stringify, which round integers beyond 2^53.
// A number that a double cannot hold is kept as its own text. Browsers without JSON.rawJSON round as before.
if (JSON.rawJSON !== undefined) {
  const parse = JSON.parse
  const isRounded = (value, source) => Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
  const keepDigits = (_key, value, { source }) => (isRounded(value, source) ? JSON.rawJSON(source) : value)
  JSON.parse = (text, reviver) => parse(text, reviver ?? keepDigits)
}
