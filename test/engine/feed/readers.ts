import type { Account } from '../../../src/engine/feed/feed-batch.ts'
import type { Reader } from '../../../src/engine/feed/read-in-turn.ts'

/** Without a limit of the rate. */
export const account: Account = { owner: 'key-1', count: () => 0 }
export const reader: Reader = { owner: 'key-1', isGone: () => false }
