/**
 * The time of day, for people and for data that outlive the process. It jumps when somebody sets the clock, so
 * durations and deadlines use performance.now().
 */
export function timeOfDay(): Date {
  return new Date()
}
