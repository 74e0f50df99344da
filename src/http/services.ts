import type { CommandHandler } from '../command-handling/command-handler.ts'
import type { PetEvent } from '../domain/events.ts'
import type { PetState } from '../domain/pet-stream.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { TokenScope } from './consistency-token.ts'

/** What the routes are served by. */
export interface RouteServices {
  readonly readModel: Pick<ReadModel, 'find' | 'page'>
  readonly commands: CommandHandler<PetState | undefined, PetEvent>
  readonly log: TokenScope
  /** Part of every ETag: another version may show the same events in another way. */
  readonly readModelVersion: string
}
