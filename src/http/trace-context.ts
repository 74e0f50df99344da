// W3C Trace Context section 3.2: version, trace-id, parent-id, flags; version ff and ids of zeros only are invalid.
const traceparentForm = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** The request's traceparent where it is valid; an invalid one counts as none. */
export function traceparentOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const { traceparent } = headers
  return typeof traceparent === 'string' && traceparentForm.test(traceparent) ? traceparent : undefined
}
