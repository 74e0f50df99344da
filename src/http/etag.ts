import { ServiceError } from '../lib/errors.ts'
import type { RouteServices } from './services.ts'

/** What sets the tags of one log and one form of the read models apart from all others. */
type TagScope = Pick<RouteServices, 'log' | 'readModelVersion'>

/** The versions that a condition names, if any it has: an empty list where all its tags are those of something else. */
export type NamedVersions = readonly number[] | 'any' | undefined

/** The strong entity tag of a document (RFC 9110 section 8.8.3): it never comes again for another state of it. */
export function writeTag(scope: TagScope, version: number): string {
  return `"${prefixOf(scope)}${version}"`
}

const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*`
/** `#entity-tag`: a list may have empty elements (RFC 9110 section 5.6.1). */
const tagList = new RegExp(String.raw`^(?:${tag})?(?:,[ \t]*(?:${tag})?)*$`)

/**
 * Reads a header of RFC 9110 section 13.1. Tags are compared strongly for If-Match, where weak ones match nothing, and
 * weakly for If-None-Match. Throws ServiceError invalid_request unless it is `*` or a list of tags.
 */
export function readCondition(
  name: 'If-Match' | 'If-None-Match',
  header: string | undefined,
  scope: TagScope,
): NamedVersions {
  if (header === undefined) return undefined
  if (header === '*') return 'any'
  if (!tagList.test(header) || !header.includes('"')) {
    throw new ServiceError('invalid_request', `header: ${name} must be * or a list of entity tags in double quotes`)
  }
  const prefix = prefixOf(scope)
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, text = '']) => {
    const version = text.startsWith(prefix) ? text.slice(prefix.length) : ''
    return /^[1-9]\d{0,15}$/.test(version) && !(weak && name === 'If-Match') ? [Number(version)] : []
  })
}

export function isNamed(version: number, named: NamedVersions): boolean {
  return named === 'any' || (named?.includes(version) ?? false)
}

function prefixOf({ log, readModelVersion }: TagScope): string {
  return `${log.logId.slice(0, 8)}-${readModelVersion}-`
}
