import { type Claim, tokenFloor } from './answers.ts'
import { type Exchange, isSuccess, type Page } from './history.ts'
import { collectionOf, isOf, keyOf } from './operations.ts'
import type { DocumentHistory, Identified, Prefixes } from './prefixes.ts'
import { membersOf, textOf } from './values.ts'

/** What a read says of one partition. */
export interface PartitionAnswer {
  readonly partition: number
  readonly claims: readonly Claim[]
  readonly showsDocuments: boolean
  /** The smallest prefix that the token of the read allows. */
  readonly tokenFloor: number
}

export function answersOf(exchange: Exchange, prefixes: Prefixes): PartitionAnswer[] {
  const { operation, id = 0, page, body, token } = exchange
  const collection = collectionOf(operation)
  if (isOf(exchange, 'list')) {
    const claims = new PageClaims(exchange, prefixes)
    return [...prefixes.records.keys()].map((partition) => ({
      ...{ partition, ...claims.of(partition, page) },
      tokenFloor: tokenFloor(token, partition),
    }))
  }
  const document = isOf(exchange, 'history')
    ? prefixes.ofStream('events', keyOf(collection, id))
    : prefixes.document(collection, id)
  const { partition } = document
  const claim = isSuccess(exchange) ? shows(document, body) : isAbsent(document)
  return [{ partition, claims: [claim], showsDocuments: isSuccess(exchange), tokenFloor: tokenFloor(token, partition) }]
}

function shows(document: DocumentHistory, body: unknown): Claim {
  const text = textOf(body)
  return { document, holds: (state) => state?.text === text }
}

export function isAbsent(document: DocumentHistory): Claim {
  return { document, holds: (state) => state === undefined }
}

/** What a page says: its documents are as shown, and every other of its range is absent, or is not asked for. */
class PageClaims {
  readonly #shown: ReadonlyMap<number, readonly Claim[]>
  readonly #ids: ReadonlySet<number>
  readonly #range: (partition: number) => readonly Identified[]

  constructor({ operation, body, page, hasNext }: Exchange, prefixes: Prefixes) {
    const collection = collectionOf(operation)
    const ids = idsOf(body)
    const claims = itemsOf(body).map((item, at) => shows(prefixes.document(collection, ids[at] ?? 0), item))
    const last = (hasNext && ids.at(-1)) || Number.POSITIVE_INFINITY
    this.#shown = Map.groupBy(claims, ({ document }) => document.partition)
    this.#ids = new Set(ids)
    this.#range = (partition) => prefixes.documents(collection, partition, page?.after ?? 0, last)
  }

  of(partition: number, page: Page | undefined): Pick<PartitionAnswer, 'claims' | 'showsDocuments'> {
    const shown = this.#shown.get(partition) ?? []
    const holds: Claim['holds'] = (state) => state === undefined || !isAskedFor(state.members, page)
    const others = this.#range(partition).filter(({ id }) => !this.#ids.has(id))
    return { claims: [...shown, ...others.map((document) => ({ document, holds }))], showsDocuments: shown.length > 0 }
  }
}

/** What is wrong with a page, whatever the log has; undefined also of a read by id. */
export function pageFlaw(exchange: Exchange): string | undefined {
  const { page, body, hasNext, id } = exchange
  if (isOf(exchange, 'history')) return undefined
  if (!isOf(exchange, 'list')) {
    const isOther = body !== undefined && membersOf(body).id !== id
    return isOther ? 'it is about another id' : undefined
  }
  const ids = idsOf(body)
  const { after = 0, limit = Number.POSITIVE_INFINITY, filters } = page ?? {}
  if (!Array.isArray(body)) return 'it is not a list'
  if (ids.some((each, at) => !(each > (ids[at - 1] ?? after)))) return `its ids do not ascend from ${after}`
  if (hasNext ? ids.length !== limit : ids.length > limit) return `it has ${ids.length} documents of ${limit}`
  const isOther = itemsOf(body).some((item) => !isAskedFor(membersOf(item), page))
  return isOther ? `it shows others than ${JSON.stringify(filters)}` : undefined
}

function isAskedFor(members: Readonly<Record<string, unknown>>, page: Page | undefined): boolean {
  return Object.entries(page?.filters ?? {}).every(([name, value]) => String(members[name]) === value)
}

function itemsOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : []
}

function idsOf(body: unknown): number[] {
  return itemsOf(body).map((item) => Number(membersOf(item).id))
}
