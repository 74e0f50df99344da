import type { StreamRow } from './stream-row.ts'

/** How the state of a stream is stored: in the document that shows it and, for the rest, after the document. */
export interface StateCodec<State> {
  /** The part of a state that its document does not show: text without NUL. */
  hidden(state: State): string
  /** The state that was stored. */
  read(row: Pick<StreamRow, 'document' | 'hidden'>): State
}
