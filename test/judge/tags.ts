import { nameOf } from './answers.ts'
import { type Contradiction, contradiction, type Exchange, type History, isSuccess } from './history.ts'
import { collectionOf, isOf } from './operations.ts'
import type { Prefixes } from './prefixes.ts'
import { membersOf, textOf } from './values.ts'
import { isTakenByOther } from './writes.ts'

/** Whatever shows one document has a tag. A tag is of one state, and a change with If-Match was of that state. */
export function* checkTags({ exchanges }: History, prefixes: Prefixes): Generator<Contradiction> {
  const told = exchanges.filter((exchange) => isSuccess(exchange) && isOf(exchange, 'create', 'place', 'update', 'get'))
  const tagged = told.filter(({ tag }) => tag !== undefined)
  for (const exchange of told.filter(({ tag }) => tag === undefined)) {
    yield contradiction('no tag', `${nameOf(exchange)} shows one document, and has no tag.`, [exchange])
  }
  for (const told of Map.groupBy(tagged, tagOf).values()) {
    const same = told.filter((exchange) => !isTakenByOther(exchange, prefixes))
    const [first] = same
    const other = same.find(({ body }) => textOf(body) !== textOf(first?.body))
    if (first === undefined || other === undefined) continue
    const what = `${nameOf(first)} and ${nameOf(other)} have the tag ${first.tag}, and differ.`
    yield contradiction('one tag, two states', what, [first, other])
  }
  const changes = exchanges.filter((exchange) => isSuccess(exchange) && isOf(exchange, 'update', 'remove'))
  const updates = changes.filter(({ cached }) => cached !== undefined)
  for (const exchange of updates) yield* checkUpdate(exchange, prefixes)
}

function tagOf({ operation, body, tag }: Exchange): string {
  return `${collectionOf(operation)} ${membersOf(body).id} ${tag}`
}

function* checkUpdate(exchange: Exchange, prefixes: Prefixes): Generator<Contradiction> {
  const { operation, number, id = 0, cached } = exchange
  const effect = prefixes.effectOf(number)
  if (effect === undefined) return // there was nothing to do
  const { states } = prefixes.document(collectionOf(operation), id)
  const before = states[states.findIndex(({ record }) => record === effect.record) - 1]
  if (before?.text === textOf(cached?.body)) return
  const what = `${nameOf(exchange)} changed what was not as its If-Match says.`
  yield contradiction('If-Match was passed over', what, [exchange], [effect.record])
}
