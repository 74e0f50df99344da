import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '../../lib/errors/errors.ts'

/** The tags that a condition names, without their quotes. Undefined without a condition. */
type NamedTags = { readonly strong: readonly string[]; readonly weak: readonly string[] } | 'any' | undefined

/** The conditions of a request (RFC 9110 section 13.1), but for those on dates: nothing here has one. */
export interface Conditions {
  readonly ifMatch: NamedTags
  readonly ifNoneMatch: NamedTags
}

const tagLength = 16 // 96 bits

/**
 * The strong entity tag of what is sent (RFC 9110 section 8.8.3). It is made of the content alone: one tag is one state, and
 * a state that comes back has its tag again.
 */
export function tagOf(content: string | Buffer): string {
  return hash('sha256', content, 'base64url').slice(0, tagLength)
}

const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*`
/** `#entity-tag`: a list may have empty elements (RFC 9110 section 5.6.1). */
const tagList = new RegExp(String.raw`^(?:${tag})?(?:,[ \t]*(?:${tag})?)*$`)

/** Whether there is a condition, for which the tag of what is there must be known. */
export function hasCondition({ ifMatch, ifNoneMatch }: Conditions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined
}

/** Throws ServiceError invalid_request unless each is `*` or a list of tags. */
export function readConditions({ 'if-match': ifMatch, 'if-none-match': ifNoneMatch }: IncomingHttpHeaders): Conditions {
  return { ifMatch: readTags('If-Match', ifMatch), ifNoneMatch: readTags('If-None-Match', ifNoneMatch) }
}

function readTags(name: string, header: string | undefined): NamedTags {
  if (header === undefined) return undefined
  if (header === '*') return 'any'
  if (!tagList.test(header) || !header.includes('"')) {
    throw new ServiceError('invalid_request', `header: ${name} must be * or a list of entity tags in double quotes`)
  }
  const tags = [...header.matchAll(/(W\/)?"([^"]*)"/g)]
  const textsOf = (isWeak: boolean) =>
    tags.flatMap(([, weak, text = '']) => ((weak !== undefined) === isWeak ? [text] : []))
  return { strong: textsOf(false), weak: textsOf(true) }
}

/**
 * Throws ServiceError precondition_failed if `If-Match` does not hold for what has this tag, or for what is there but has
 * none. Tags are compared strongly, so weak ones match nothing.
 */
export function checkIfMatch({ ifMatch }: Conditions, tag?: string): void {
  if (ifMatch === undefined || ifMatch === 'any' || (tag !== undefined && ifMatch.strong.includes(tag))) return
  throw new ServiceError('precondition_failed', `header: If-Match ${problemWith(ifMatch, tag)}`)
}

function problemWith({ weak }: Exclude<NamedTags, 'any' | undefined>, tag: string | undefined): string {
  if (tag === undefined) return 'cannot hold, since there is no entity tag of what this request is about'
  const problem = 'does not have the entity tag of the present state'
  return weak.length === 0 ? problem : `${problem}; weak tags (W/"…") never match: send the tag without W/`
}

/** Whether `If-None-Match` names what has this tag, or `*` what is there. Tags are compared weakly. */
export function isNamed({ ifNoneMatch }: Conditions, tag?: string): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch === 'any') return ifNoneMatch === 'any'
  return tag !== undefined && (ifNoneMatch.strong.includes(tag) || ifNoneMatch.weak.includes(tag))
}

/** As `checkIfMatch`, for a request that changes something: it must not be what `If-None-Match` names either. */
export function checkConditions(conditions: Conditions, tag?: string): void {
  checkIfMatch(conditions, tag)
  if (!isNamed(conditions, tag)) return
  throw new ServiceError('precondition_failed', 'header: If-None-Match names what is there')
}
