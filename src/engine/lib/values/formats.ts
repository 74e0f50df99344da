import { createRequire } from 'node:module'

interface Format {
  readonly check: (text: string) => boolean
  /** What a value must be, behind its name. */
  readonly rule: string
}

/**
 * The formats of texts. What they accept stays as it is, since they decide which events of a log can be read. So `date-time`
 * is our own: that of ajv-formats takes a space for the `T`, and offsets without a colon or without minutes, which RFC 3339
 * does not, and refuses times that a log may have, such as 24:00:00.
 */
export const formats: Readonly<Record<string, Format>> = {
  date: { check: standard('date'), rule: 'must be a date such as 2026-11-20' },
  'date-time': { check: isDateTime, rule: 'must be a date and time with an offset, such as 2026-11-20T09:30:00Z' },
  email: { check: standard('email'), rule: 'must be an email address such as name@example.com' },
  uri: { check: standard('uri'), rule: 'must be a URI such as https://example.com/a' },
  uuid: { check: standard('uuid'), rule: 'must be a UUID such as 0195c2a0-7e5b-7c3d-8f21-4b6a9d0e1f23' },
  'well-formed': { check: (text) => text.isWellFormed(), rule: 'must be well-formed Unicode' },
}

const dateTimeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

/** RFC 3339. */
function isDateTime(text: string): boolean {
  return dateTimeForm.test(text) && !Number.isNaN(Date.parse(text))
}

/** The format of ajv-formats, which is loaded when a value is first checked by it: no start needs it. */
function standard(name: 'date' | 'email' | 'uri' | 'uuid'): (text: string) => boolean {
  let check: ((text: string) => boolean) | undefined
  return (text) => {
    check ??= load(name)
    return check(text)
  }
}

type AjvFormats = typeof import('ajv-formats')['default']

function load(name: Parameters<AjvFormats['get']>[0]): (text: string) => boolean {
  const definition = (createRequire(import.meta.url)('ajv-formats') as AjvFormats).get(name)
  const format = typeof definition === 'object' && 'validate' in definition ? definition.validate : definition
  if (format instanceof RegExp) return (text) => format.test(text)
  return format as (text: string) => boolean
}
