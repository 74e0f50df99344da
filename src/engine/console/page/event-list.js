/**
 * The events that are shown, in blocks as they came, the latest one first. `before` of a block is where those behind it
 * are asked for; null at the beginning of the log.
 * @import { EarlierEvents, ShownEvent, TailMessage } from '../event-answers.ts'
 * @import { EventBlock, EventList } from './types.ts'
 */

/** More rows take longer than anybody looks at. */
export const rowsMax = 200

/**
 * Where the tail begins: what was before is asked for.
 * @param {TailMessage} message
 * @returns {EventList}
 */
export function begun({ after }) {
  return { blocks: [{ events: [], before: after }], after, leftOut: 0, isCut: false }
}

/**
 * A message of the tail comes first; the last blocks make room for it, and can be asked for again.
 * @param {EventList} list
 * @param {TailMessage} message
 * @returns {EventList}
 */
export function withLater(list, { events, leftOut, after }) {
  if (list.isCut) return list
  const found = notIn(list, events).toReversed()
  const blocks = found.length === 0 ? list.blocks : [{ events: found, before: list.after }, ...list.blocks]
  return { ...list, after, leftOut: list.leftOut + leftOut, blocks: cut(blocks, -1) }
}

/**
 * What was asked for behind the last block; the first blocks make room for it, and the tail has no place to go on at then.
 * An answer that comes too late belongs nowhere.
 * @param {EventList} list
 * @param {string} asked
 * @param {EarlierEvents} answer
 * @returns {EventList}
 */
export function withEarlier(list, asked, { events, before }) {
  const end = list.blocks.at(-1)
  if (end?.before !== asked) return list
  const found = notIn(list, events)
  const others = found.length === 0 ? list.blocks.slice(0, -1) : list.blocks
  const last = found.length === 0 ? { ...end, before } : { events: found, before }
  const blocks = cut([...others, last], 0)
  return { ...list, blocks, isCut: list.isCut || blocks.length <= others.length }
}

/** @param {Pick<EventList, 'blocks'>} list */
export function eventsIn({ blocks }) {
  return blocks.flatMap(({ events }) => events)
}

/**
 * Where to ask for what is behind them.
 * @param {EventList} list
 */
export function endOf({ blocks }) {
  return blocks.at(-1)?.before
}

/**
 * Without the blocks at an end for which there is no room.
 * @param {readonly EventBlock[]} blocks
 * @param {0 | -1} end
 */
function cut(blocks, end) {
  const kept = [...blocks]
  let rows = eventsIn({ blocks }).length
  while (rows > rowsMax) for (const { events } of kept.splice(end, 1)) rows -= events.length
  return kept
}

/**
 * What waited behind a parked event comes when that is discarded, and again at its own place.
 * @param {EventList} list
 * @param {readonly ShownEvent[]} events
 */
function notIn(list, events) {
  const shown = new Set(eventsIn(list).map(nameOf))
  return events.filter((event) => !shown.has(nameOf(event)))
}

/**
 * One event of a stream takes effect as each version, or several with an index each.
 * @param {ShownEvent} event
 */
export function nameOf(event) {
  return `${event.subject} ${versionOf(event)}`
}

/**
 * `3`, or `3.0`, `3.1` where several events have the version 3.
 * @param {Pick<ShownEvent, 'streamversion' | 'streamindex'>} event
 */
export function versionOf({ streamversion = 1, streamindex }) {
  return streamindex === undefined ? `${streamversion}` : `${streamversion}.${streamindex}`
}
