import type { StreamRow } from './stream-row.ts'

/** How the state of a stream is kept: in the document that shows it and, for the rest, behind that. */
export interface StateCodec<State> {
  /** What of a state its document does not show: text without NUL. */
  hidden(state: State): string
  /** The state that the row was written from. */
  read(row: Pick<StreamRow, 'document' | 'hidden'>): State
}
