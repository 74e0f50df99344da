/** A problem that an operator should fix before it does harm. */
export interface Warning {
  /** For metrics and alerts; never changes. */
  readonly code: string
  /** Says what was found and what to do. */
  readonly message: string
}
