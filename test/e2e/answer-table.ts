import type { Answer } from './client.ts'

/** What an answer has to be: this text; read with a token, older than that without it; or that there is nothing. */
export type Expected = 'nothing' | { readonly text: string; readonly since?: 'token' }

interface Row {
  readonly kind: string
  readonly answers: Map<string, number>
  wrong: number
  missing: number
  older: number
  slowestMs: number
}

/** What clients were answered, by kind of request, and all of it that was untrue. */
export class AnswerTable {
  readonly #rows = new Map<string, Row>()
  /** The first few untrue answers, to be looked into. */
  readonly untrue: string[] = []

  add(kind: string, { status, text, ms }: Pick<Answer, 'status' | 'text' | 'ms'>, expected: Expected): void {
    const row = this.#row(kind)
    const label = status >= 500 ? `${status} ${codeIn(text)}` : String(status)
    row.answers.set(label, (row.answers.get(label) ?? 0) + 1)
    row.slowestMs = Math.max(row.slowestMs, ms)
    if (status === 503) return
    const fault = faultOf(status, text, expected)
    if (fault === undefined) return
    row[fault]++
    this.#note(`${kind} is ${fault}: ${status} ${text.slice(0, 300)}`)
  }

  /** An answer that could be judged only later. */
  confirm(kind: string, isTrue: boolean, text: string): void {
    if (isTrue) return
    this.#row(kind).wrong++
    this.#note(`${kind} is wrong: ${text.slice(0, 300)}`)
  }

  /** How many answers there are of each kind. */
  counts(): [string, number][] {
    return [...this.#rows.values()].map(({ kind, answers }) => [kind, sum(answers.values())])
  }

  /** Counts answers of all kinds. */
  count(label: RegExp): number {
    const found = [...this.#rows.values()].flatMap(({ answers }) => [...answers])
    return sum(found.filter(([each]) => label.test(each)).map(([, count]) => count))
  }

  toString(): string {
    const rows = [...this.#rows.values()].map(({ kind, answers, wrong, missing, older, slowestMs }) => [
      kind,
      [...answers].map(([label, count]) => `${label}: ${count}`).join(', '),
      ...[wrong, missing, older].map(String),
      `${Math.round(slowestMs)} ms`,
    ])
    const lines = [['REQUEST', 'ANSWERS', 'WRONG', 'MISSING', 'OLDER', 'SLOWEST'], ...rows]
    const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? []
    return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
  }

  #row(kind: string): Row {
    const row = this.#rows.get(kind) ?? { kind, answers: new Map(), wrong: 0, missing: 0, older: 0, slowestMs: 0 }
    this.#rows.set(kind, row)
    return row
  }

  #note(what: string): void {
    if (this.untrue.length < 10) this.untrue.push(what)
  }
}

function faultOf(status: number, text: string, expected: Expected): 'wrong' | 'missing' | 'older' | undefined {
  if (expected === 'nothing') return status === 404 ? undefined : 'wrong'
  if ((status === 200 || status === 201) && text === expected.text) return undefined
  const isAbsence = status === 404 || (status === 200 && lacksSome(text, expected.text))
  if (!isAbsence) return 'wrong'
  return expected.since === 'token' ? 'older' : 'missing'
}

/** Whether a page leaves out a pet that should be on it. */
function lacksSome(page: string, expected: string): boolean {
  const ids = (text: string) => [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id)
  const found = new Set(ids(page))
  return ids(expected).some((id) => !found.has(id))
}

function codeIn(text: string): string {
  return /"code":"(\w+)"/.exec(text)?.[1] ?? ''
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, each) => total + each, 0)
}
