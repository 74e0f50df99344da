/** The ids for which something is found, each with that. */
export function byId<T>(ids: readonly string[], find: (id: string, i: number) => T | undefined): Map<string, T> {
  const found = new Map<string, T>()
  for (const [i, id] of ids.entries()) {
    const one = find(id, i)
    if (one !== undefined) found.set(id, one)
  }
  return found
}
