import { type Definition, define } from '../../../src/engine/definition/definition.ts'
import type { Service } from '../../../src/engine/door/service.ts'
import type { Projection } from '../../../src/engine/door/stream.ts'
import { Int64Schema } from '../../../src/engine/index.ts'
import type { SeatState } from './seats.ts'
import { seatStream, theatre } from './theatre.ts'

const { service } = theatre
const { seats } = service.resources

const seatsByRow: Projection<SeatState | undefined> = {
  name: 'seats',
  version: 1,
  documents(state) {
    const found = seatStream.projections[0]?.documents(state) ?? []
    return found.map(({ filters, ...document }) => ({ ...document, filters: { ...filters, rowId: state?.seat.rowId } }))
  },
}

/** The theatre, whose seats are found by their row too, alone and together with their status. */
export const theatreByRow: Definition = define({
  ...service,
  streams: [{ ...seatStream, projections: [seatsByRow, ...seatStream.projections.slice(1)] }] as Service['streams'],
  resources: {
    ...service.resources,
    seats: {
      ...seats,
      filters: { ...seats?.filters, rowId: Int64Schema({ description: 'The row', examples: [7] }) },
      together: [['rowId', 'status']],
    },
  } as Service['resources'],
})
