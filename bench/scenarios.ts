import type { Load } from './load/load.ts'
import type { FilledStore } from './pets.ts'

export interface Scenario {
  readonly name: string
  readonly load: Load
}

export interface Read extends Scenario {
  /** The least ratio that the service is to reach. */
  readonly target: number
}

const pathsMax = 1000

export function reads({ petPaths, pagePaths }: FilledStore): Read[] {
  return [
    { name: 'GET by id', load: get(spread(petPaths)), target: 0.75 },
    { name: 'page of 20', load: get(['/v1/pets?limit=20']), target: 0.5 },
    { name: 'page of 20, by cursor', load: get(spread(pagePaths.slice(1))), target: 0.5 },
    { name: 'page of 20, by status', load: get(['/v1/pets?limit=20&status=sold']), target: 0.5 },
  ]
}

export const post: Load = {
  method: 'POST',
  paths: ['/v1/pets'],
  body: JSON.stringify({ name: 'Rex', categoryId: 7, status: 'available' }),
}

export const postWithoutWait: Load = { ...post, headers: { prefer: 'wait=0' } }

/** The last leaves the projector behind, which would hold up the other. */
export const writes: readonly Scenario[] = [
  { name: 'POST', load: post },
  { name: 'POST, wait=0', load: postWithoutWait },
]

export function get(paths: readonly string[]): Load {
  return { method: 'GET', paths }
}

/** Paths from all over the store. */
function spread(paths: readonly string[]): string[] {
  const step = Math.ceil(paths.length / pathsMax)
  return paths.filter((_, index) => index % step === 0)
}
