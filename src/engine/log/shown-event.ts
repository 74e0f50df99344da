/**
 * Attributes that only the journal has: they are hashes of the owner of an API key and of what was sent, so whoever guesses
 * those right could tell.
 */
export const hiddenAttributes: ReadonlySet<unknown> = new Set(['idempotencykey', 'requestfingerprint'])
const mayHaveHidden = /idempotencykey|requestfingerprint|\\u/

/** The CloudEvents type of a record of several events. */
const severalForm = /^[a-z0-9]+\.Several\.v1$/
const mayBeSeveral = (json: string) => json.includes('.Several.v1') || json.includes('\\u')

/** The JSON text of a record as it is shown: every character of the other attributes as in the log. */
export function shownEvent(json: string): string {
  return mayHaveHidden.test(json) ? `{${shownMembersOf(json)}}` : json
}

/**
 * The JSON texts that are told of a record whose data can be read: of a record of several events each by itself, with its own
 * `id`, `type` and `data`, a `streamindex`, and every character of the other attributes as in the log.
 */
export function shownEvents(json: string): readonly string[] {
  if (!mayBeSeveral(json)) return [shownEvent(json)]
  const members = shownMembersOf(json)
  const { type, data = '' } = byName(members)
  if (type === undefined || !severalForm.test(JSON.parse(valueIn(type)))) return [`{${members}}`]
  const { events = '' } = byName(membersOf(valueIn(data)))
  const common = members.filter((member) => nameOf(member) !== 'streamindex')
  return membersOf(valueIn(events)).map((event, index) => {
    const own = byName(membersOf(event))
    return `{${common.map((member) => ownMember(member, own, index))}}`
  })
}

const ownNames: ReadonlySet<string> = new Set(['id', 'type', 'data'])

function ownMember(member: string, own: Readonly<Record<string, string>>, index: number): string {
  const name = nameOf(member)
  if (name === 'streamversion') return `${member},"streamindex":${index}`
  return (ownNames.has(name) && own[name]) || member
}

/** One without an end takes all that follows: what others wrote may be no JSON. */
const strings = String.raw`"(?:[^"\\]|\\.)*"?`
const marks = new RegExp(String.raw`${strings}|[{}[\],]`, 'gs')
const nameForm = new RegExp(String.raw`^\s*(${strings})\s*:?`, 's')

function shownMembersOf(json: string): string[] {
  return membersOf(json).filter((member) => !hiddenAttributes.has(nameOf(member)))
}

/** The members of a JSON object, or the elements of an array, as text. */
function membersOf(json: string): string[] {
  const ends: number[] = [] // of members, and first the beginning of the whole
  let depth = 0
  for (const { 0: mark, index } of json.matchAll(marks)) {
    if (mark === '}' || mark === ']') depth--
    if (depth === 0 || (depth === 1 && mark === ',')) ends.push(index)
    if (mark === '{' || mark === '[') depth++
  }
  return ends.slice(1).map((end, i) => json.slice((ends[i] ?? 0) + 1, end))
}

/** As `JSON.parse` does, the last one counts where a name comes twice. */
function byName(members: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(members.map((member) => [nameOf(member), member]))
}

function nameOf(member: string): string {
  return JSON.parse(nameForm.exec(member)?.[1] ?? '""')
}

function valueIn(member: string): string {
  return member.replace(nameForm, '')
}
