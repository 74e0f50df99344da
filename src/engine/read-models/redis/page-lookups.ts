import { DamagedError, quoted } from '../damaged.ts'
import { beginningOf, type DocumentId, type IndexKey, setName } from '../document.ts'
import type { PageQuery, StoredPage } from '../ports/reads.ts'
import { checkText, provenPage } from '../proven-document.ts'
import type { Answer, SetLookup } from './group-reader.ts'

type Shown = Omit<StoredPage, 'proof'>

/** What `read.lua` looks up for a page: one lookup, or one for each of its ids. */
export function pageLookups({ collection, indexKeys = [], after, limit, ids }: PageQuery): SetLookup[] {
  const set = setName(collection, indexKeys[0])
  const prefix = beginnings(indexKeys)
  if (ids === undefined)
    return [
      prefix === '' ? { what: 'page', set, of: after, limit } : { what: 'range', set, of: after + 1, limit, prefix },
    ]
  return ids.map((id) => (prefix === '' ? { what: 'member', set, of: id } : entryLookup(set, prefix, id)))
}

/** `prefix`: `beginnings`. */
export function entryLookup(set: string, prefix: string, id: number): SetLookup {
  return { what: 'entry', set, of: id, limit: id + 1, prefix }
}

/** What the entries at these keys begin with, each followed by NUL; '' where the set is ordered by id. */
export function beginnings(indexKeys: readonly IndexKey[]): string {
  return indexKeys
    .map((key) => beginningOf(key) ?? '')
    .map((each) => each && `${each}\0`)
    .join('')
}

export function countLookup(collection: string, key: IndexKey): SetLookup {
  const [set, prefix] = [setName(collection, key), beginningOf(key)]
  return prefix === undefined ? { what: 'size', set, of: 0 } : { what: 'count', set, of: 0, prefix }
}

/** Throws DamagedError. */
export function pageOf(query: PageQuery, found: Answer['found']): Shown {
  return query.ids === undefined ? wholePage(query, found[0] ?? '') : pageOfIds(query, query.ids, found)
}

function pageOfIds({ collection }: PageQuery, ids: readonly number[], found: Answer['found']): Shown {
  const documents = found.flatMap((member, i) =>
    member !== null ? jsonOf({ collection, id: ids[i] ?? 0 }, member) : [],
  )
  return { documents: documents.join(','), count: documents.length, last: undefined }
}

function wholePage({ collection, indexKeys }: PageQuery, page: string): Shown {
  const set = setName(collection, indexKeys?.[0])
  const head = /^(\d+) (\d+|-),?/.exec(page)
  if (head === null)
    throw new DamagedError(`a page of ${quoted(set)} has a text that is not a document, or not of its id`)
  const count = Number(head[1])
  return {
    documents: provenPage(set, page.slice(head[0].length), count),
    count,
    last: head[2] === '-' ? undefined : Number(head[2]),
  }
}

/** `member`: the entry of a document in a collection or an index. */
function jsonOf(document: DocumentId, member: string): string {
  const [json = ''] = member.split('\0', 1)
  checkText(document, json)
  return json
}
