import type { Claim } from './answers.ts'
import type { Contradiction, Exchange, LogRecord } from './history.ts'
import type { Shown } from './operations.ts'
import type { Effective, Prefixes } from './prefixes.ts'

/** A document, or what a refusal is about that no document shows. */
export interface ShownDocument {
  readonly collection: Shown | 'held' | 'lines'
  readonly document: { readonly id: number; readonly isRemoved?: boolean }
}

/** What a record came to that took effect: each document that it shows once, as its last event leaves it. */
export interface Effect {
  readonly type: string
  readonly shown: readonly ShownDocument[]
  /** What is wrong with it, though it can be applied: no command makes that happen. */
  readonly flaw?: string
}

/** The rule of the records of a log, by which their streams go on. */
export interface Rule {
  versionOf(stream: string): number
  /** Takes the next record of its partition; undefined if it changes nothing. */
  take(record: LogRecord): Effect | undefined
}

/** What the judge knows of a service. */
export interface JudgedService {
  readonly collections: readonly Shown[]
  newRule(partitionFor: (key: string) => number): Rule
  /** What the record has a new id for. */
  drawnIn(record: LogRecord): { readonly collection: Shown; readonly id: number } | undefined
  /** Whether a document is as the request asked that created it, whose id was drawn for it. */
  isNew(exchange: Exchange, document: unknown): boolean
  /** Whether it is what an update or a removal asked for. */
  isChange(exchange: Exchange, effect: Effective): boolean
  /** Whether a document is as an update wanted it. */
  isSo(wanted: Exchange['wanted'], document: unknown): boolean
  /** When a refusal with a code is true. */
  readonly reasons: Readonly<Record<string, (exchange: Exchange, prefixes: Prefixes) => Claim>>
  /** What no effects can come to, in the order of each partition. */
  checkEffects(effects: readonly Effective[]): Generator<Contradiction>
}

/** The document of this id as the effect left it; undefined if it shows none. */
export function documentOf({ shown }: Effect, collection: ShownDocument['collection'], id: number): object | undefined {
  return shown.find((each) => each.collection === collection && each.document.id === id)?.document
}

/** That which was new. */
export function newDocumentIn(effect: Effective): object | undefined {
  return effect.drawn && documentOf(effect, effect.drawn.collection, effect.drawn.id)
}
