import { Type } from 'typebox'

/** The engine's own event: an operator's decision to leave out an event that could not be applied. */
export const discardedName = 'EventDiscarded'

export const EventDiscardedData = Type.Object(
  {
    offset: Type.Integer({
      format: 'int64',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Of the event left out, which stands in the same partition',
    }),
  },
  { title: 'EventDiscardedData' },
)
