/** What `node --cpu-prof` writes. */
export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[]
  /** The node that was on top of the stack at each sample. */
  readonly samples: readonly number[]
  /** Microseconds between samples. */
  readonly timeDeltas: readonly number[]
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

/** The time spent in each place itself, without what it called; the longest first. */
export function selfTimes(
  { nodes, samples, timeDeltas }: CpuProfile,
  placeOf: (frame: CallFrame) => string,
): SelfTime[] {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [index, node] of samples.entries()) {
    const place = places.get(node) ?? '?'
    times.set(place, (times.get(place) ?? 0) + (timeDeltas[index] ?? 0))
  }
  times.delete('(idle)')
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  return [...times].map(([place, time]) => ({ place, share: time / total })).toSorted((a, b) => b.share - a.share)
}

/** Function, file and line; V8's own names for what is no JavaScript. */
export function functionOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName || '(anonymous)'
  return url === '' ? name : `${name}  ${shorten(url)}:${lineNumber + 1}`
}

/** The package, the folder of this project, or Node. */
export function partOf({ functionName, url }: CallFrame): string {
  if (url === '') return functionName || '(anonymous)'
  const part = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  return part ?? (url.startsWith('node:') ? 'Node' : shorten(url).replace(/\/[^/]*$/, ''))
}

function shorten(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(new URL('../', import.meta.url).href, '')
}
