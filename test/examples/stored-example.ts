import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, vi } from 'vitest'
import { type Program, startCommand } from '../e2e/service.ts'
import type { Topic } from '../e2e/topic.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const patience = { timeout: 120_000, interval: 5 }
const root = join(import.meta.dirname, '../..')
export const readProject = (path: string) => readFileSync(join(root, path), 'utf8')
export const inProject = (path: string) => join(root, path)

const python = process.env.EXAMPLES_PYTHON ?? 'python3'
export const hasPython = spawnSync(python, ['-c', 'import confluent_kafka']).status === 0

/** The programs of this name in each language that this machine has; in CI it has to have them all. */
export function inEachLanguage(name: string): readonly string[] {
  return hasPython || process.env.CI ? [`${name}.ts`, `${name}.py`] : [`${name}.ts`]
}

export interface Stored {
  /** A table that it writes to. */
  readonly table: string
  /** Which of the rows it takes a moment for. */
  readonly slowWhen?: string
  /** A number that grows with what it has stored. */
  readonly progress: string
  /** What sets it back, as in examples/README.md. */
  readonly anew: string
}

const moment =
  'SELECT count(*) FROM (WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n);'

/** A moment before each row, and between it and the position: this is where a kill does harm. */
const slowDown = ({ table, slowWhen = 'true' }: Stored) => `
  CREATE TABLE IF NOT EXISTS stored (row INTEGER);
  CREATE TRIGGER IF NOT EXISTS slow_row BEFORE INSERT ON ${table} WHEN ${slowWhen} BEGIN
    INSERT INTO stored VALUES (1);
    ${moment}
  END;
  CREATE TRIGGER IF NOT EXISTS slow_position BEFORE INSERT ON positions WHEN EXISTS (SELECT 1 FROM stored) BEGIN
    DELETE FROM stored;
    ${moment}
  END;`

/** A program of examples/published that keeps what it makes of a topic in a database of its own. It is started at once. */
export class StoredExample {
  readonly #name: string
  readonly #stored: Stored
  readonly #environment: Readonly<Record<string, string>>
  readonly #file: string
  #program: Program

  constructor(name: string, stored: Stored, { KAFKA_BROKERS, KAFKA_TOPIC }: Topic) {
    this.#name = name
    this.#stored = stored
    this.#file = join(temporaryFolder(), 'example.db')
    this.#environment = { KAFKA_BROKERS, KAFKA_TOPIC, DATABASE: this.#file }
    this.#program = this.#start()
  }

  /** Kills it as soon as it has stored more, and starts it anew. */
  async killAtWork(): Promise<void> {
    await this.until(() => this.run(slowDown(this.#stored)))
    const before = this.#progress()
    await this.until(() => expect(this.#progress()).toBeGreaterThan(before))
    await this.kill()
    this.#program = this.#start()
  }

  async kill(): Promise<void> {
    expect(await this.#program.end('SIGKILL')).toBe('SIGKILL')
  }

  /** Starts it at the first record, as examples/README.md says. */
  beginAnew(): void {
    const { anew } = this.#stored
    expect(readProject('examples/README.md')).toContain(`\`${anew}\``)
    this.run(anew)
    this.restart()
  }

  restart(): void {
    this.#program = this.#start()
  }

  /** Fails at once if the program ends before. */
  async until(condition: () => void): Promise<void> {
    const { ended, errors } = this.#program
    const tooSoon = ended.then((code) => expect.fail(`${this.#name} ended with ${code}: ${errors()}`))
    await Promise.race([vi.waitFor(condition, patience), tooSoon])
  }

  run(statements: string): void {
    using database = this.#open()
    database.exec(statements)
  }

  /** What the query finds; nothing where the program has not made its tables yet. */
  rows(query: string): readonly Record<string, unknown>[] {
    using database = this.#open()
    const table = database.prepare('SELECT name FROM sqlite_schema WHERE name = ?').get(this.#stored.table)
    return table === undefined ? [] : database.prepare(query).all()
  }

  #progress(): number {
    return Number(this.rows(`SELECT ${this.#stored.progress} AS progress FROM ${this.#stored.table}`)[0]?.progress ?? 0)
  }

  #start(): Program {
    const KAFKA_GROUP = randomUUID() // else it waits until the group notices that the one before was killed
    const path = inProject(`examples/published/${this.#name}`)
    const command = this.#name.endsWith('.py') ? [python, path] : [process.execPath, path]
    return startCommand(command, { ...this.#environment, KAFKA_GROUP })
  }

  #open(): DatabaseSync {
    return new DatabaseSync(this.#file, { timeout: 10_000 })
  }
}
