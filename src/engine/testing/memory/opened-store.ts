import { ServiceError } from '../../lib/errors/errors.ts'
import type { StoredDocument } from '../../read-models/document.ts'
import { Listeners } from '../../read-models/listeners.ts'
import type { Snapshot } from '../../read-models/ports/generations.ts'
import type { StreamNames } from '../../read-models/stream-names.ts'
import type { GenerationData, MemoryData, VersionData } from './memory-data.ts'

/** One opening of the data. */
export class MemoryStore {
  readonly data: MemoryData
  readonly version: string
  readonly names: StreamNames
  readonly listeners = new Listeners({ connected: true })
  isClosed = false

  constructor(data: MemoryData, version: string, names: StreamNames) {
    this.data = data
    this.version = version
    this.names = names
  }

  open(): VersionData {
    if (this.isClosed) throw new ServiceError('read_model_unavailable', 'The read models are closed.')
    return this.data.version(this.version)
  }

  generation(name: string): GenerationData | undefined {
    return this.open().generations.get(name)
  }

  snapshot(generation: GenerationData | undefined): Snapshot {
    return { active: this.open().inState('active')?.name, checkpoints: new Map(generation?.checkpoints) }
  }
}

/** Those of a collection, or of one of its indexes, in ascending order of id. */
export function inOrder(generation: GenerationData | undefined, set: string): StoredDocument[] {
  return [...(generation?.documents(set).values() ?? [])].sort((a, b) => a.id - b.id)
}
