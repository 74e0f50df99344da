import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `node --cpu-prof` writes. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: CallFrame
    readonly children?: readonly number[]
  }[]
  /** The node that was on top of the stack at each sample. */
  readonly samples: readonly number[]
  /** Microseconds between samples; the first one since `startTime`. */
  readonly timeDeltas: readonly number[]
  /** Microseconds, by the clock of `process.hrtime`. */
  readonly startTime: number
}

export interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

export interface SelfTime {
  readonly place: string
  /** A share of the time in which the process was not idle. */
  readonly share: number
}

/** The options of Node that make it write a profile into a folder when it ends. */
export function profilingInto(folder: string): readonly string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

/** The one profile in a folder. */
export function profileIn(folder: string): CpuProfile {
  const [file] = readdirSync(folder)
  if (file === undefined) throw new Error('Node wrote no profile')
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

/**
 * The self time of each place, without the functions that it calls; the longest first. A frame without a place counts to its
 * caller. `from`: what was before does not count, by the clock of the profile.
 */
export function selfTimes(
  { nodes, samples, timeDeltas, startTime }: CpuProfile,
  placeOf: (frame: CallFrame) => string | undefined,
  from = 0,
): SelfTime[] {
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const places = new Map<number, string>()
  const placeOfNode = (id: number | undefined): string => {
    const frame = id === undefined ? undefined : frames.get(id)
    if (id === undefined || frame === undefined) return '?'
    const place = places.get(id) ?? placeOf(frame) ?? placeOfNode(callers.get(id))
    places.set(id, place)
    return place
  }
  const times = new Map<string, number>()
  let now = startTime
  for (const [index, node] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0
    now += delta
    if (now < from) continue
    const place = placeOfNode(node)
    times.set(place, (times.get(place) ?? 0) + delta)
  }
  times.delete('(idle)')
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  return [...times].map(([place, time]) => ({ place, share: time / total })).toSorted((a, b) => b.share - a.share)
}
