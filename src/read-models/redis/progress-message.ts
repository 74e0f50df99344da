import type { Progress } from '../generations.ts'

/**
 * `<generation>` for one that became active; `<generation> <partition> <from> <next>` for an applied batch, followed by
 * the offsets of the records without effect, if any: ` <offset>,<offset>`.
 */
export function progressMessage(generation: string, progress?: Progress): string {
  if (progress === undefined) return generation
  const { partition, from, next, withoutEffect } = progress
  const applied = `${generation} ${partition} ${from} ${next}`
  return withoutEffect.length === 0 ? applied : `${applied} ${withoutEffect.join(',')}`
}

/** Undefined for what is no progress message: anyone can publish. */
export function parseProgressMessage(
  message: string,
): { readonly generation: string; readonly progress: Progress | undefined } | undefined {
  const [, generation, partition, from, next, offsets] =
    /^(\S+)(?: (\d+) (\d+) (\d+)(?: (\d+(?:,\d+)*))?)?$/.exec(message) ?? []
  if (generation === undefined) return undefined
  if (partition === undefined) return { generation, progress: undefined }
  const withoutEffect = offsets?.split(',').map(Number) ?? []
  return {
    generation,
    progress: { partition: Number(partition), from: Number(from), next: Number(next), withoutEffect },
  }
}
