import type { Logger } from 'pino'

/** Who did what to keys, events and read models. */
export type AuditedAction =
  | 'key issued'
  | 'key rotated'
  | 'key will expire'
  | 'key revoked'
  | 'requests refused'
  | 'event discarded'
  | 'read models rebuilt'

/** Writes lines that say `audit`, at level info, also where the log has less: only a silent log has none. */
export function auditTo(logger: Logger): (audit: AuditedAction, details: object) => void {
  const child = logger.child({}, { level: logger.level === 'silent' ? 'silent' : 'info' })
  return (audit, details) => child.info({ audit, ...details }, audit)
}
