import { Type } from 'typebox'
import { IdSchema, type PetId, PetIdSchema } from './pet.ts'

export const orderStatuses = ['placed', 'approved', 'delivered', 'cancelled'] as const
export const OrderStatus = Type.Enum(orderStatuses, {
  type: 'string',
  title: 'OrderStatus',
  description: 'Status of the order: placed, approved, delivered, or cancelled before delivery',
})
export type OrderStatus = (typeof orderStatuses)[number]

/** Unique, not chronological. */
export type OrderId = number & { readonly brand: 'OrderId' }

export interface Order {
  readonly id: OrderId
  readonly petId: PetId
  readonly status: OrderStatus
  /** RFC 3339, UTC. */
  readonly placedAt: string
  /** RFC 3339, UTC; never before `placedAt` or an earlier `updatedAt`. */
  readonly updatedAt: string
}

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-20T09:30:00.000Z'] })

export const OrderSchema = Type.Object(
  {
    id: IdSchema({
      description: 'Unique identifier assigned by the service; not chronological',
      examples: [12],
    }),
    petId: PetIdSchema,
    status: OrderStatus,
    placedAt: time('When the order was placed'),
    updatedAt: time('When its status last changed'),
  },
  { title: 'Order', additionalProperties: false, description: 'An order of one pet' },
)

/** The order as JSON text: the only function that writes it, for read models and answers. */
export function orderDocument({ id, petId, status, placedAt, updatedAt }: Order): string {
  return `{"id":${id},"petId":${petId},"status":"${status}","placedAt":"${placedAt}","updatedAt":"${updatedAt}"}`
}
