/**
 * The time of day, for what people read and for what outlives the process. It jumps when somebody sets the clock: durations
 * and deadlines are taken from performance.now().
 */
export function timeOfDay(): Date {
  return new Date()
}
