/**
 * Attributes that only the journal has: they are hashes of the owner of an API key and of what was sent, so whoever guesses
 * those right could tell.
 */
export const hiddenAttributes: ReadonlySet<unknown> = new Set(['idempotencykey', 'requestfingerprint'])
const mayHaveHidden = /idempotencykey|requestfingerprint|\\u/

/** The JSON text of an event as it is shown and published: every character of the other attributes as in the log. */
export function shownEvent(json: string): string {
  if (!mayHaveHidden.test(json)) return json
  return `{${membersOf(json).filter((member) => !hiddenAttributes.has(nameOf(member)))}}`
}

/** One without an end takes all that follows: what others wrote may be no JSON. */
const strings = String.raw`"(?:[^"\\]|\\.)*"?`
const marks = new RegExp(String.raw`${strings}|[{}[\],]`, 'gs')
const nameForm = new RegExp(String.raw`^\s*(${strings})`, 's')

/** The members of a JSON object, as text. */
function membersOf(json: string): string[] {
  const ends: number[] = [] // of members, and first the beginning of the object
  let depth = 0
  for (const { 0: mark, index } of json.matchAll(marks)) {
    if (mark === '}' || mark === ']') depth--
    if (depth === 0 || (depth === 1 && mark === ',')) ends.push(index)
    if (mark === '{' || mark === '[') depth++
  }
  return ends.slice(1).map((end, i) => json.slice((ends[i] ?? 0) + 1, end))
}

function nameOf(member: string): unknown {
  return JSON.parse(nameForm.exec(member)?.[1] ?? 'null')
}
