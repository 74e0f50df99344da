/** An event as it took effect in its stream. */
export interface Recorded<Event> {
  readonly event: Event
  /** The version that the stream has after it. */
  readonly version: number
  /** RFC 3339, as the event has it: '' where it has none. */
  readonly time: string
}
