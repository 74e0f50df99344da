import { join } from 'node:path'
import { petstore } from './petstore.ts'

/** What is stored of pets and categories, and what it was recorded from besides the examples of events. */
export const ofStore = {
  definition: petstore,
  folder: join(import.meta.dirname, 'recorded/read-models'),
  more: {
    'removed, and never ordered': ['petDescribed', 'petRemoved'],
    'removed after its order was cancelled': ['petDescribed', 'orderPlaced', 'orderCancelled', 'petRemoved'],
    'changed after its order was cancelled': ['petCreated', 'orderPlaced', 'orderCancelled', 'petChangedDescribed'],
    'parked, as it cannot follow': ['petCreated', 'orderApproved', 'petChanged'],
  },
} as const
