import type { DocumentId } from './document.ts'
import type { StreamId } from './stored-texts.ts'

/**
 * How streams are named, which is also their record key (decision 0071): those of the first kind by their id in decimal,
 * those of any other by `<collection>/<id>`. A document of a kind's own collection shows the stream of its id.
 */
export class StreamNames {
  /** Those of the kinds, in their order. */
  readonly collections: readonly string[]
  /** What stands before the id, by the collection of the kind. */
  readonly #prefixes: ReadonlyMap<string, string>

  constructor(collections: readonly string[]) {
    this.collections = collections
    this.#prefixes = new Map(collections.map((collection, i) => [collection, i === 0 ? '' : `${collection}/`]))
  }

  /** Whether documents of the collection show streams. */
  isOwn(collection: string): boolean {
    return this.#prefixes.has(collection)
  }

  /** What stands before the id in the name of a stream; nothing where documents of the collection show none. */
  prefixOf(collection: string): string {
    return this.#prefixes.get(collection) ?? ''
  }

  /** The stream that a document shows; undefined if documents of its collection show none. */
  streamOf({ collection, id }: DocumentId): StreamId | undefined {
    const prefix = this.#prefixes.get(collection)
    return prefix === undefined ? undefined : `${prefix}${id}`
  }

  /** What the default partitioner takes of a document: the stream that it shows, or else its id. */
  keyOf(document: DocumentId): string {
    return this.streamOf(document) ?? String(document.id)
  }

  /** The only document that can show a stream; undefined if none can. */
  documentOf(stream: StreamId): DocumentId | undefined {
    for (const [collection, prefix] of this.#prefixes) {
      const id = stream.startsWith(prefix) ? idIn(stream.slice(prefix.length)) : undefined
      if (id !== undefined) return { collection, id }
    }
    return undefined
  }

  /**
   * The place of the kind that a stream of this name is of. 'newer': a later release may have such streams. Undefined: none
   * has. Any other name is one of the first kind.
   */
  kindOf(stream: string): number | 'newer' | undefined {
    const [, word = '', id = ''] = ofKind.exec(stream) ?? []
    const place = this.collections.indexOf(word)
    const hasId = idIn(id) !== undefined
    if (place < 0) return hasId ? 'newer' : 0
    return place > 0 && hasId ? place : undefined
  }
}

const ofKind = /^([a-z][a-z-]*)\/(.*)$/s

function idIn(text: string): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(id) ? id : undefined
}
