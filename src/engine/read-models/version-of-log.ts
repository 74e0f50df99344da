/** Enough of a UUID to distinguish the few logs that may share a Redis and a prefix. */
const logIdLength = 8

/** The name of the version for the read models of one log. */
export function versionOfLog(version: string, logId: string): string {
  return `${version}@${logId.slice(0, logIdLength)}`
}
