import type { ErrorTable } from '../../src/engine/door/errors.ts'
import { retryText } from '../../src/engine/http/documents/errors-page.ts'

/** The text of docs/errors.md. */
export function errorsReference(errors: ErrorTable): string {
  const rows = [...errors].map(
    ([code, { status, retry, effect, meaning }]) =>
      `| \`${code}\` | ${status} | ${retryText(retry)} | ${effect} | ${meaning} |`,
  )
  return [head, ...rows, foot].join('\n')
}

const head = `# Errors

Every error answer has the body \`{"code": "...", "message": "...", "status": ...}\` with exactly these members, as
\`application/json; charset=utf-8\`. \`status\` repeats the HTTP status. Program against \`code\`: codes are stable and are never reused
for something else. Messages are for people and may change. \`X-Request-Id\` identifies the request in the service's log. It repeats
the client's own \`X-Request-Id\` if that is 1 to 128 visible ASCII characters; otherwise it is a new id. Bytes that are no request get
none. \`Link: <…/docs/errors#code>; rel="help"\` leads to the row of the code.

- **Retry** says whether the same request, unchanged, can succeed later. Where seconds are given, the answer repeats them in
  \`Retry-After\`.
- **Effect** says what the request has changed:
  - \`none\`: nothing. The event log has no event of this request, or has one that took no effect because a competing event came first.
  - \`stored\`: the event is in the event log.
  - \`unknown\`: the event may be in the log, or may still arrive there. Send a POST again under the same \`Idempotency-Key\`. If it had
    none, look first: repeating it may add a second pet, but never places a second open order. A PATCH can always be repeated.

| Code | Status | Retry | Effect | Meaning |
|---|---|---|---|---|`

const foot = `
\`/livez\` and \`/readyz\` answer 503 with a report of each part instead of an error.
`
