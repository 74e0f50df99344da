import type { AppliedTo } from '../read-models.ts'

/**
 * `<generation>` for one that became active; `<generation> <partition> <next>` for an applied batch, followed by the
 * offsets of the records that were parked, if any: ` <offset>,<offset>`.
 */
export function progressMessage(generation: string, at?: AppliedTo): string {
  if (at === undefined) return generation
  const applied = `${generation} ${at.partition} ${at.next}`
  return at.parked.length === 0 ? applied : `${applied} ${at.parked.join(',')}`
}

export interface Progress {
  readonly generation: string
  readonly at: AppliedTo | undefined
}

/** Undefined for what is no progress message: anyone can publish. */
export function parseProgressMessage(message: string): Progress | undefined {
  const [, generation, partition, next, parked] = /^(\S+)(?: (\d+) (\d+)(?: (\d+(?:,\d+)*))?)?$/.exec(message) ?? []
  if (generation === undefined) return undefined
  if (partition === undefined) return { generation, at: undefined }
  const offsets = parked?.split(',').map(Number) ?? []
  return { generation, at: { partition: Number(partition), next: Number(next), parked: offsets } }
}
