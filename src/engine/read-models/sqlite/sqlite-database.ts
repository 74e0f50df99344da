import { existsSync } from 'node:fs'
import type { SQLInputValue } from 'node:sqlite'
import { ServiceError } from '../../lib/errors/errors.ts'
import { DamagedError, numberIn } from '../damaged.ts'
import { isKeyed, type TextSet } from '../document.ts'
import type { Checkpoints, StoredGeneration } from '../ports/generations.ts'
import { checkText } from '../proven-document.ts'
import { type FoundRow, foundRow } from '../row-place.ts'
import { type Checkpoint, decodeCheckpoint, type StreamId } from '../stored-texts.ts'
import type { StreamNames } from '../stream-names.ts'
import { DamagedFile, isDamage, type RepairOptions } from './damaged-file.ts'
import type { DocumentSet, KeyedSet } from './document-sets.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { tableOf } from './sqlite-tables.ts'

export interface SqliteReadModelsOptions {
  readonly file: string
  readonly version: string
  readonly names: StreamNames
  /**
   * Whether this is the single process that serves the read models: only it applies to the active generation, and drops
   * tables of a release with another layout.
   */
  readonly isOwner?: boolean
  /** Given to the owner where a damaged file is to be set aside, and an empty one made in its place. */
  readonly repair?: RepairOptions
}

/** A row of the table. */
export interface GenerationRow extends StoredGeneration {
  readonly key: number
  readonly continues: string | null
  readonly paused: number
}

/** The file, for one version of the read models, shared by the parts of the store. */
export class SqliteDatabase {
  readonly options: SqliteReadModelsOptions
  /** Changes whenever something may have been written; writes of other processes count once they are noticed. */
  changes = 0
  /** The time of the last look, by performance.now(). */
  lookedAt = Number.NEGATIVE_INFINITY
  #dataVersion: unknown
  readonly #damaged: DamagedFile | undefined
  /** Called after an empty file has taken the place of a damaged one. */
  readonly #replaced: () => void
  /** Undefined while it cannot be opened anew. */
  #connection: SqliteConnection | undefined
  #isClosed = false

  constructor(options: SqliteReadModelsOptions, replaced: () => void) {
    this.options = options
    this.#damaged = options.isOwner && options.repair ? new DamagedFile(options.file, options.repair) : undefined
    this.#replaced = replaced
    this.#connection = this.#openFirst()
  }

  get db() {
    return this.#connected.db
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  close(): void {
    this.#isClosed = true
    this.#connection?.db.close()
  }

  get(sql: TemplateStringsArray, ...values: SQLInputValue[]) {
    return this.#connected.prepared(sql).get(...values)
  }

  all(sql: TemplateStringsArray, ...values: SQLInputValue[]) {
    return this.#connected.prepared(sql).all(...values)
  }

  run(sql: TemplateStringsArray, ...values: SQLInputValue[]) {
    return this.#connected.prepared(sql).run(...values)
  }

  /** The generations, the active one first. */
  generations(version = this.options.version): readonly GenerationRow[] {
    // node:sqlite throws where a number is beyond 2^53.
    const rows = this.all`
      SELECT key, name, log_id AS logId, state, min(since, 9007199254740991) AS since, continues,
        min(paused, 9007199254740991) AS paused FROM generation
      WHERE version = ${version} AND state <> 'removed' ORDER BY state, since`
    return rows as unknown as GenerationRow[]
  }

  generation(name: string): GenerationRow | undefined {
    return this.generations().find((each) => each.name === name)
  }

  inState(state: 'active' | 'building'): GenerationRow | undefined {
    return this.generations().find((each) => each.state === state)
  }

  /** Throws DamagedError. */
  checkpoints(key: number): Checkpoints {
    const rows = this.all`SELECT partition, checkpoint FROM checkpoint WHERE generation = ${key}`
    return new Map(rows.map(({ partition, checkpoint }) => checkpointIn(String(partition), String(checkpoint))))
  }

  /** The sets of documents of a generation. */
  collections(key: number): readonly { readonly name: string; readonly key: number }[] {
    const rows = this.all`SELECT name, key FROM collection WHERE generation = ${key}`
    return rows as unknown as ReturnType<SqliteDatabase['collections']>
  }

  /** The key of a set of documents; undefined if it never had an entry. */
  setKey(generation: number, name: string): number | undefined {
    const found = this.get`SELECT key FROM collection WHERE generation = ${generation} AND name = ${name}`
    return found && Number(found.key)
  }

  /** A set of a key of `collections` that is not keyed. */
  documents(key: number): DocumentSet {
    return this.#connected.documents(key)
  }

  /** A keyed one. */
  keyed(key: number): KeyedSet {
    return this.#connected.keyed(key)
  }

  /** Its key. */
  createSet(generation: number, name: string): number {
    const { lastInsertRowid } = this.run`
      INSERT INTO collection (generation, name, size) VALUES (${generation}, ${name}, 0)`
    this.#connected.createSet(Number(lastInsertRowid), name)
    return Number(lastInsertRowid)
  }

  /** 0 of a set that never had an entry. Throws DamagedError. */
  recordedSize(key: number | undefined): number {
    if (key === undefined) return 0
    // As text: node:sqlite throws where a number is beyond 2^53.
    const size = numberIn(String(this.get`SELECT CAST(size AS TEXT) AS size FROM collection WHERE key = ${key}`?.size))
    if (size === undefined) throw new DamagedError('a recorded size is not a number')
    return size
  }

  /** Removes at most `max` documents; once none are left, the set itself. */
  removeDocuments({ key, name }: { readonly key: number; readonly name: string }, max: number): void {
    const table = tableOf(key)
    const place = isKeyed(name) ? '(key, id)' : 'id'
    const some = `SELECT ${place.replaceAll(/[()]/g, '')} FROM ${table} LIMIT ?`
    const { changes } = this.db.prepare(`DELETE FROM ${table} WHERE ${place} IN (${some})`).run(max)
    if (changes === max) return
    this.#connected.dropSet(key)
    this.run`DELETE FROM collection WHERE key = ${key}`
  }

  /** `setOf`: the set of a collection. */
  row(key: number, stream: StreamId, setOf: (collection: string) => DocumentSet | undefined): FoundRow {
    const shown = this.options.names.documentOf(stream)
    const [json, behind] = (shown && setOf(shown.collection)?.find(shown.id)) ?? []
    if (shown !== undefined && json !== undefined) checkText(shown, json)
    return foundRow(json === undefined ? undefined : { json, behind: behind ?? '' }, () =>
      this.text(key, 'rows', stream),
    )
  }

  text(key: number, set: TextSet, id: string): string | undefined {
    const found = this.get`SELECT text FROM text WHERE generation = ${key} AND name = ${set} AND id = ${id}`
    return found?.text as string | undefined
  }

  /** Reads in one atomic step, and notices writes of other processes. Throws ServiceError read_model_unavailable, DamagedError. */
  read<T>(work: () => T): T {
    return this.#transaction('read', () => {
      const found = this.get`PRAGMA data_version`?.data_version
      if (found !== this.#dataVersion) this.changes++
      this.#dataVersion = found
      this.lookedAt = performance.now()
      return work()
    })
  }

  /** As `read`, for one generation; undefined if it does not exist. */
  readGeneration<T>(name: string, work: (key: number) => T): T | undefined {
    return this.read(() => {
      const key = this.generation(name)?.key
      return key === undefined ? undefined : work(key)
    })
  }

  /** Writes all or nothing; nothing if `isKept` rejects the result. Throws ServiceError read_model_unavailable. */
  write<T>(work: () => T, isKept?: (result: T) => boolean): T {
    this.changes++
    return this.#transaction('write', work, isKept)
  }

  /** Throws ServiceError read_model_unavailable, also where the file is damaged; it is then set aside. */
  answer<T>(ask: () => T): T {
    if (this.#isClosed) throw new ServiceError('read_model_unavailable', 'The read models are closed.')
    try {
      return ask()
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ERR_OUT_OF_RANGE') throw new DamagedError('a number is out of range', { cause })
      if (code !== 'ERR_SQLITE_ERROR') throw cause
      const message = isDamage(cause) ? this.#meetDamage(cause) : 'The read models could not be read.'
      throw new ServiceError('read_model_unavailable', message, { cause })
    }
  }

  /** What is written into a file that was removed is lost with the process. Throws as `answer` does. */
  expectFile(): void {
    const { file } = this.options
    const missing = this.#damaged && [file, `${file}-wal`].find((name) => !existsSync(name))
    if (missing === undefined || this.#connection === undefined) return
    throw new ServiceError('read_model_unavailable', this.#meetDamage(new Error(`${missing} is gone`)))
  }

  get #connected(): SqliteConnection {
    this.#connection ??= this.#open()
    return this.#connection
  }

  #open(): SqliteConnection {
    return new SqliteConnection(this.options.file, this.options.isOwner === true)
  }

  #openFirst(): SqliteConnection {
    try {
      return this.#open()
    } catch (error) {
      if (!isDamage(error) || !this.#damaged?.setAside(error, () => {})) throw error
      return this.#open()
    }
  }

  /** What to answer. */
  #meetDamage(cause: unknown): string {
    const isSetAside = this.#damaged?.setAside(cause, () => {
      this.#connection?.db.close()
      this.#connection = undefined
      this.changes++
    })
    if (isSetAside) this.#replaced()
    return this.#damaged === undefined
      ? `The read models are damaged (${(cause as Error).message}): the service that serves them sets their file aside ` +
          'once it meets the damage, and builds them again.'
      : 'The read models are damaged, and are built again.'
  }

  #transaction<T>(kind: 'read' | 'write', work: () => T, isKept: (result: T) => boolean = () => true): T {
    return this.answer(() => this.#connected.transaction(kind, work, isKept))
  }
}

/** Throws DamagedError. */
function checkpointIn(partition: string, text: string): [partition: number, Checkpoint] {
  if (!/^\d{1,3}$/.test(partition)) throw new DamagedError(`there is a checkpoint of partition ${partition}`)
  return [Number(partition), decodeCheckpoint(text, partition)]
}
