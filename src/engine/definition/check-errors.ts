import { notFoundCode } from '../door/errors.ts'
import type { Service } from '../door/service.ts'
import { engineErrors } from '../lib/errors/engine-errors.ts'

/** What is wrong with the errors of a service, which stand in one table with those of its resources and of the engine. */
export function* errorsIn({ errors, resources }: Service): Generator<string> {
  const taken = new Map([
    ...Object.keys(engineErrors).map((code) => [code, 'the engine'] as const),
    ...Object.entries(resources).map(
      ([collection, { noun }]) => [notFoundCode(noun), `resources.${collection}`] as const,
    ),
  ])
  for (const [code, { status, retry }] of Object.entries(errors)) {
    const place = `errors.${code}`
    if (!/^[a-z][a-z0-9_]*$/.test(code)) yield `errors: ${code} must be lower case letters, digits and _`
    if (taken.has(code)) yield `errors: ${taken.get(code)} has an error ${code} already`
    if (!Number.isInteger(status) || status < 400 || status > 599)
      yield `${place}.status: ${status} must be that of an error, from 400 to 599`
    const isRetry =
      typeof retry === 'number' ? Number.isInteger(retry) && retry > 0 : ['no', 'yes', 'later'].includes(retry)
    if (!isRetry) yield `${place}.retry: ${retry} must be no, yes, later, or a number of seconds`
  }
  for (const [collection, { noun }] of Object.entries(resources))
    if (notFoundCode(noun) in engineErrors)
      yield `resources.${collection}.noun: the engine has an error ${notFoundCode(noun)}`
}
