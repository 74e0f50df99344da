import { toldOf } from '../errors/file-errors.ts'

/** What a check came to. The detail of what is not ok says what to do. */
export interface Finding {
  readonly what: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly detail: string
}

export function ok(what: string, detail: string): Finding {
  return { what, state: 'ok', detail }
}

export function warning(what: string, detail: string): Finding {
  return { what, state: 'warning', detail }
}

export function failed(what: string, error: unknown): Finding {
  return { what, state: 'failed', detail: toldOf(error) }
}
