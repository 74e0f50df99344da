/** Words of the store, in any form: an order only as the thing that is bought. */
export const storeWords =
  /\b[pP]ets?\b|\b[pP]et[A-Z_]|[a-z]Pet|petstore|[aA]nimal|\borders\b|\border(?:Id|_\w| \d)|\bOrder(?!ed)[A-Z]|placeOrder/
