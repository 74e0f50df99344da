import { type EngineErrorCode, type ErrorFacts, engineErrors } from '../lib/errors/engine-errors.ts'

/** A service's own errors by their codes. None of them has an effect. */
export type OwnErrors<Code extends string = string> = Readonly<Record<Code, Omit<ErrorFacts, 'effect'>>>

/** What a command may be rejected with: the service's own errors, those of its resources, and the engine's. */
export type ErrorCode<Own extends string, Noun extends string> = Own | NotFoundCode<Noun> | EngineErrorCode

/** All errors of a service by their codes, in the order of its reference. */
export type ErrorTable = ReadonlyMap<string, ErrorFacts>

type NotFoundCode<Noun extends string> = `${Noun}_not_found`
export const notFoundCode = <Noun extends string>(noun: Noun): NotFoundCode<Noun> => `${noun}_not_found`

/** The error of every resource: there is none with this id. */
export function notFoundError(noun: string): ErrorFacts {
  return { status: 404, retry: 'no', effect: 'none', meaning: `No ${noun} has this id.` }
}

/** The errors of the engine and of a service whose resources have these nouns. */
export function errorTable(nouns: readonly string[], own: OwnErrors): ErrorTable {
  const errors: (readonly [code: string, facts: ErrorFacts])[] = [
    ...nouns.map((noun) => [notFoundCode(noun), notFoundError(noun)] as const),
    ...Object.entries(engineErrors),
    ...Object.entries(own).map(([code, facts]) => [code, { ...facts, effect: 'none' }] as const),
  ]
  return new Map(errors.sort(([, a], [, b]) => place(a) - place(b)))
}

/** Errors stand by their status, but 408 stands behind 412: the published documents have it there. */
function place({ status }: ErrorFacts): number {
  return status === 408 ? 412 : status
}
