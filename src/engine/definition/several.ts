import { type Static, Type } from 'typebox'
import { compileCheck } from '../lib/values/validation.ts'

/** The engine's own event: several events of one command. They are one record, so that all take effect or none does. */
export const severalName = 'Several'

export const SeveralData = Type.Object(
  {
    events: Type.Array(
      Type.Object({
        id: Type.String({ minLength: 1, description: 'Unique per event, as that of an event which is alone' }),
        type: Type.String({ minLength: 1, description: 'Says what `data` is, as in an event which is alone' }),
        data: Type.Unknown(),
      }),
      { minItems: 2, description: 'In their order' },
    ),
  },
  { title: 'SeveralData' },
)

/** One of several events, as the log has it. */
export type OneOfSeveral = Static<typeof SeveralData>['events'][number]

const check = compileCheck(SeveralData)

/** Throws an Error with the reason. */
export function readSeveral(data: unknown): readonly OneOfSeveral[] {
  const problem = check(data)
  if (problem !== undefined) throw new Error(problem)
  const { events } = data as Static<typeof SeveralData>
  const ids = new Set<string>()
  for (const { id } of events) {
    if (ids.has(id)) throw new Error(`two events have the id ${id}`)
    ids.add(id)
  }
  return events
}

export function idInSeveral(recordId: string, index: number): string {
  return `${recordId}-${index}`
}

/** Data of a record, as JSON text. The ids follow from that of the record, so that all duplicates of a request share them. */
export function writeSeveral(recordId: string, events: readonly { type: string; json: string }[]): string {
  const written = events.map(
    ({ type, json }, index) => `{"id":"${idInSeveral(recordId, index)}","type":"${type}","data":${json}}`,
  )
  return `{"events":[${written.join(',')}]}`
}

/** Which event of a record a reason is about. */
export function placeInSeveral(index: number, count: number): string {
  return `event ${index + 1} of ${count}`
}
