import { ServiceError } from './errors/errors.ts'

/**
 * The time of day, for people and for data that outlive the process. It jumps when somebody sets the clock, so
 * durations and deadlines use performance.now().
 */
export function timeOfDay(): Date {
  return new Date()
}

/**
 * The time of an event, as RFC 3339 has it: a year has four digits. Throws ServiceError event_log_unavailable where the
 * clock says another one: readers of the log would not know the time of the event.
 */
export function eventTime(now: Date): string {
  const time = now.toISOString()
  const problem = problemWith(time)
  if (problem !== undefined) throw new ServiceError('event_log_unavailable', problem)
  return time
}

/** Why no event can be written at this time; undefined if one can. */
export function clockProblem(now: Date): string | undefined {
  return problemWith(now.toISOString())
}

function problemWith(time: string): string | undefined {
  if (/^\d{4}-/.test(time)) return undefined
  return `The clock of the service says ${time}, which no event can have as its time: set the clock.`
}
