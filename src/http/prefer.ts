/** Seconds. */
const defaultWait = 1
const waitMax = 10

/** RFC 7240 section 2: a value is a token or a quoted string, and parameters may follow it. */
const waitForm = /^wait\s*=\s*(?:(\d+)|"(\d+)")\s*(?:;|$)/i

/** How long an answer may be held back until the read models have what it is to show. */
export interface PreferredWait {
  readonly seconds: number
  /** The value of Preference-Applied, where the client said how long. */
  readonly applied: string | undefined
}

const unasked: PreferredWait = { seconds: defaultWait, applied: undefined }

/** `wait` of a Prefer header (RFC 7240 section 4.3), at most 10 seconds. What cannot be read is ignored, as section 2 says. */
export function preferredWait(prefer: string | string[] | undefined): PreferredWait {
  if (prefer === undefined) return unasked
  for (const preference of String(prefer).split(',')) {
    const [, token, quoted] = waitForm.exec(preference.trim()) ?? []
    const wanted = token ?? quoted
    if (wanted === undefined) continue
    const seconds = Math.min(Number(wanted), waitMax)
    return { seconds, applied: `wait=${seconds}` }
  }
  return unasked
}
