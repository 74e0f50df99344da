export function membersOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
}

/** Equal for equal documents, in whatever order their members are. */
export function textOf(document: unknown): string {
  const members = Object.entries(Object(document)).sort(([one], [other]) => (one < other ? -1 : 1))
  return JSON.stringify(members, (_name, value) => (typeof value === 'bigint' ? Number(value) : value))
}
