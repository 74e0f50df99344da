/** What an operator should see to before it does harm. */
export interface Warning {
  /** For metrics and alerts: it stays what it is. */
  readonly code: string
  /** Says what was found and what to do. */
  readonly message: string
}
