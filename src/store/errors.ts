import type { Service } from '../engine/index.ts'

export const errors = {
  pet_not_available: {
    status: 409,
    retry: 'later',
    meaning:
      'The pet is already ordered or sold, or was added as pending or sold. The message names the order that holds it.',
  },
  pet_is_ordered: {
    status: 409,
    retry: 'later',
    meaning: 'A pet with an open order cannot be removed. The message names the order: deliver or cancel it first.',
  },
  order_transition_invalid: {
    status: 409,
    retry: 'no',
    meaning:
      'The order cannot change to this status from its present one. An order goes from placed to approved to ' +
      'delivered; a placed or approved order can be cancelled.',
  },
  unknown_pet: { status: 422, retry: 'no', meaning: 'The pet to order does not exist.' },
} satisfies Service['errors']
