import { Type } from 'typebox'

export const eventSource = '/v1/pets'

/** The attributes that every event of this service has, in the published schema of each (CloudEvents 1.0 section 3). */
export function envelopeAttributes<EventType extends string>(type: EventType, says: { id: string; subject: string }) {
  return {
    specversion: Type.Literal('1.0'),
    id: Type.String({ minLength: 1, description: says.id }),
    type: Type.Literal(type),
    source: Type.Literal(eventSource),
    subject: Type.String({ description: says.subject }),
    time: Type.String({ description: 'RFC 3339, UTC' }),
    datacontenttype: Type.Literal('application/json'),
  }
}
