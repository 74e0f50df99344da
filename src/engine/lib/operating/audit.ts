import type { Logger } from 'pino'

/** Actions on keys, events and read models. */
type AuditedAction =
  | 'key issued'
  | 'key rotated'
  | 'key will expire'
  | 'key revoked'
  | 'requests refused'
  | 'event discarded'
  | 'read models rebuilt'

/** Writes lines with a member `audit` at level info, whatever the level of the logger; a silent logger writes none. */
export function auditTo(logger: Logger): (audit: AuditedAction, details: object) => void {
  const child = logger.child({}, { level: logger.level === 'silent' ? 'silent' : 'info' })
  return (audit, details) => child.info({ audit, ...details }, audit)
}
