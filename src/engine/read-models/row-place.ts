import { encodeRow, type StreamRow } from './stored-texts.ts'

/**
 * Characters of hidden state: whoever lists or finds documents reads what is behind them. The entries of a row do not
 * count, or the row of a busy stream would move in and out.
 */
export const hiddenBehindMax = 1024

/** Stands behind a document in place of a row that is in `rows`. No row is this text. */
export const rowsMark = '>'

type Row = Pick<StreamRow, 'version' | 'isRemoved' | 'entries' | 'hidden'>

/** Where the row of a stream stands: what is behind the document that shows the stream, and what is in `rows`. */
export interface PlacedRow {
  readonly behind?: string
  readonly inRows?: string
}

export function placedRow(row: Row, isShown: boolean): PlacedRow {
  const text = encodeRow(row)
  if (isShown && row.hidden.length <= hiddenBehindMax) return { behind: text }
  return { ...(isShown ? { behind: rowsMark } : {}), inRows: text }
}

/** What a store has of a stream: the document that shows it, and its row. */
export interface FoundRow {
  readonly json?: string | undefined
  readonly row?: string | undefined
}

/** `shown`: the document that shows the stream, if there is one. `inRows` looks up what `rows` has. */
export function foundRow(
  shown: { readonly json: string; readonly behind: string } | undefined,
  inRows: () => string | undefined,
): FoundRow {
  if (shown === undefined) return { row: inRows() }
  const { json, behind } = shown
  return { json, row: behind === rowsMark ? inRows() : behind }
}

/** Whether the row is missing, which each document that shows a stream implies. */
export function lacksRow({ json, row }: FoundRow): boolean {
  return json !== undefined && row === undefined
}
