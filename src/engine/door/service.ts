import type { TObject, TSchema } from 'typebox'
import type { Deprecation, Texts } from './command.ts'
import type { ErrorCode, OwnErrors } from './errors.ts'
import type { AnyStream } from './stream.ts'

/** All that the engine knows of a service. The compiler knows what it may name by `errors` and `resources`. */
export interface Service<
  Code extends string = string,
  Collection extends string = string,
  Noun extends string = string,
> {
  /** Begins the types of events and the names of metrics, topics and keys: lower case. */
  readonly name: string
  readonly title: string
  /** The version of the HTTP interface. */
  readonly version: string
  readonly description: string
  /**
   * The kinds of streams. The record keys of the first are its ids in decimal, those of any other `<collection>/<id>`: so
   * the first stays the first for ever.
   */
  readonly streams: readonly AnyStream<NoInfer<Collection>, ErrorCode<NoInfer<Code>, NoInfer<Noun>>>[]
  /** Each by its collection. */
  readonly resources: Readonly<Record<Collection, Resource<Noun>>>
  /** What `Rejected` may name, besides the errors of the engine. */
  readonly errors: OwnErrors<Code>
  /** More commands for operators. `url` is where the service is to be found. */
  readonly cli?: readonly ServiceCommand[]
}

/** A kind of document that is listed page by page, and found by id. */
export interface Resource<Noun extends string = string> {
  /** Under /v1. */
  readonly path: string
  /** The word for one of them. */
  readonly noun: Noun
  /** The words for one and for several of them in documents, if they are others there. */
  readonly called?: { readonly one: string; readonly several: string }
  readonly tag: { readonly name: string; readonly description: string }
  /** Whether it may still change; says so in the documents. */
  readonly isBeta?: true
  /** Has `title`, the name in documents, and begins with `id`. */
  readonly schema: TObject
  readonly example: object
  /**
   * Parameters of the list: an enumeration of texts, an int64, or a text of 1 to 128 code points. Each int64 or text is an
   * index, with a copy of every document. A new one, or another `together`, builds the read models anew beside the old ones; for
   * a new enumeration raise the version of the projection that names its value.
   */
  readonly filters?: Readonly<Record<string, TSchema>>
  /**
   * Which filters can be combined; each alone can always be asked for. Each list names one int64 or text, and enumerations. A
   * document may have no value of an enumeration: with that, their values have at most 16 combinations.
   */
  readonly together?: readonly (readonly string[])[]
  /** Tells how many there are by each value of `by`, an enumeration: of all, or of those that a filter beside it chooses. */
  readonly count?: Texts & { readonly path: string; readonly by: string }
  readonly list: Texts
  readonly find: Texts & Deprecation
  /** Only for the collection of a kind of stream. */
  readonly history?: Texts
}

export interface ServiceCommand {
  readonly name: string
  readonly summary: string
  /**
   * Resolves to what is printed. A RangeError, and what `parseArgs` of Node throws, tells of bad usage; an error caused by a
   * failed `fetch` tells that the service is out of reach.
   */
  run(argv: readonly string[], url: string): Promise<string>
}
