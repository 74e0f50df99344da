import { parseExact } from './json.js'
import { Refused } from './refused.js'

/**
 * @import { AnswerTo } from './types.ts'
 * @typedef {{ method?: string, body?: string | undefined, headers?: Record<string, string>, signal: AbortSignal }} Sent
 * @typedef {{ refused: Refused, until: number, unsentUntil: number }} Limit
 */

/** Where the service is, whatever a proxy puts in front of it. */
const base = new URL('.', new URL(location.pathname, location.origin))

/** The API key of whoever is signed in. No other place has it, so it is gone with the tab. */
let key = ''
/** @type {(why?: string) => void} */
let whenSignedOut = () => {}

/**
 * What the answers so far say was seen: whoever changes something sees the change, whichever process answers.
 * @type {string | undefined}
 */
let token

/**
 * How reads, and writes, were refused for a limit of the key, and until when: none is sent before.
 * @type {{ reads?: Limit, writes?: Limit }}
 */
let limited = {}
/** However long the limit holds: another process may answer then, or this one with another limit. */
const unsentMaxMs = 60_000

/** @param {string} newKey @param {(why?: string) => void} signedOut */
export function signIn(newKey, signedOut) {
  key = newKey
  whenSignedOut = signedOut
}

/** @param {string} [why] */
export function signOut(why) {
  key = ''
  token = undefined
  limited = {}
  whenSignedOut(why)
}

/**
 * Asks the service. Resolves to what it says, and to its headers.
 * @template {string} Path
 * @param {Path} path
 * @param {Omit<Sent, 'signal'> & { timeoutMs?: number }} how
 */
export async function ask(path, { method = 'GET', body, headers = {}, timeoutMs = 15_000 } = {}) {
  const sent = token
  const response = await send(path, { method, body, headers, signal: AbortSignal.timeout(timeoutMs) })
  const text = await response.text().catch(() => '')
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const value = isJson ? parseExact(text) : text
  token = seenWith(response.headers.get('consistency-token'), sent)
  if (response.ok) {
    return { value: /** @type {AnswerTo<Path>} */ (value), headers: response.headers, status: response.status }
  }
  const refused = refusal(response.status, value)
  if (refused.code === 'invalid_consistency_token') token = undefined // the log is another one now
  if (response.status === 401) signOut('Your API key is not valid, or not any more.')
  throw refused
}

/** @param {number} status @param {unknown} said */
function refusal(status, said) {
  const { code = '', message = `The service answered ${status}.` } =
    /** @type {{ code?: string, message?: string }} */ (said ?? {})
  return new Refused(status, code, message)
}

/**
 * An answer covers what its request was sent with. What came meanwhile is kept beside it: answers may overtake each other.
 * @param {string | null} answered
 * @param {string | undefined} sent
 */
function seenWith(answered, sent) {
  if (answered === null) return token
  return token === undefined || token === sent ? answered : `${token}, ${answered}`
}

/**
 * Takes each message of an answer without an end. Resolves once it ends after all.
 * @template {string} Path
 * @param {Path} path
 * @param {(message: AnswerTo<Path>) => void} take
 * @param {AbortSignal} signal
 */
export async function follow(path, take, signal) {
  const response = await send(path, { signal, headers: { accept: 'text/event-stream' } })
  if (!response.ok) throw refusal(response.status, await response.json().catch(() => ({})))
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let rest = ''; ; ) {
    const { value, done } = await reader.read()
    if (done) return
    const messages = (rest + value).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      if (!message.startsWith('data: ')) continue
      take(/** @type {AnswerTo<Path>} */ (parseExact(message.slice('data: '.length))))
    }
  }
}

/**
 * Throws what the service said where a limit of the key still holds.
 * @param {string} path
 * @param {Sent} options
 */
async function send(path, options) {
  const kind = (options.method ?? 'GET') === 'GET' ? 'reads' : 'writes'
  const last = limited[kind]
  if (last !== undefined && last.unsentUntil > Date.now()) throw withTime(last)
  const response = await exchange(path, options)
  if (response.status !== 429) return response
  const waitMs = 1000 * (Number(response.headers.get('retry-after')) || 1)
  const now = Date.now()
  const refused = refusal(429, await response.json().catch(() => ({})))
  const limit = { refused, until: now + waitMs, unsentUntil: now + Math.min(waitMs, unsentMaxMs) }
  limited[kind] = limit
  throw withTime(limit)
}

/** @param {Limit} limit */
function withTime({ refused: { status, code, message }, until }) {
  const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000))
  return new Refused(status, code, `${message} It may send more in ${seconds} s.`)
}

/** @param {string} path @param {Sent} sent */
async function exchange(path, { headers, body, ...options }) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const seen = token === undefined ? {} : { 'consistency-token': token, prefer: 'wait=10' }
  try {
    return await fetch(new URL(path, base), {
      ...{ ...options, body: body ?? null, cache: 'no-store' },
      headers: { authorization: `Bearer ${key}`, ...type, ...seen, ...headers },
    })
  } catch (cause) {
    if (options.signal.aborted && options.signal.reason?.name === 'AbortError') throw cause
    throw new Refused(0, 'no_answer', 'The service does not answer.')
  }
}

/**
 * Works again and again, with a pause between, until the returned function is called.
 * @param {number} pauseMs
 * @param {() => Promise<void>} work
 */
export function every(pauseMs, work) {
  let timer = 0
  let isOver = false
  async function goOn() {
    await work()
    if (!isOver) timer = setTimeout(goOn, pauseMs)
  }
  goOn()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
