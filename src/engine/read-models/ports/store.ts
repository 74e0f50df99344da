import type { Warning } from '../../lib/operating/warning.ts'
import type { Generations } from './generations.ts'
import type { Inspection } from './inspection.ts'
import type { ProjectionStore } from './projection.ts'
import type { StoredReads } from './reads.ts'

/**
 * A store of one version of the read models: four small ports on the same data. It is derived from the log: if deleted,
 * the read models come back identical. After `close` listeners are disconnected and no new one is called, and every
 * other call throws ServiceError read_model_unavailable.
 *
 * What is stored may be damaged: a key of another type, a text that cannot be read, a number out of range. In a
 * generation it counts as missing: whoever reads it throws DamagedError, except `look`, which tells it, and
 * `activate`. Outside of generations (which one is active or being built, which ones are kept, the list of versions) it
 * counts as absent, and the next write replaces it. No method waits or repeats because of it.
 */
export interface ReadModelStore {
  readonly reads: StoredReads
  readonly projection: ProjectionStore
  readonly generations: Generations
  readonly inspection: Inspection
  /** Problems with how the data are stored, as of the last connect. Always empty on SQLite. */
  readonly warnings: readonly Warning[]
  /** May be called more than once. */
  close(): Promise<void>
}
