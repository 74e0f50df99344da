import type { Answer } from './client.ts'

/** What an answer has to be: this text; read with a token, older than that without it; or that there is nothing. */
export type Expected = 'nothing' | { readonly text: string; readonly since?: 'token' }

interface Row {
  readonly answers: Map<string, number>
  slowestMs: number
}

/** What clients were answered, by kind of request, and all of it that was untrue. */
export class AnswerTable {
  readonly #rows = new Map<string, Row>()
  /** The first few untrue answers, to be looked into: each is wrong, missing what was there, or older than its token. */
  readonly untrue: string[] = []

  add(kind: string, { status, text, ms }: Pick<Answer, 'status' | 'text' | 'ms'>, expected: Expected): void {
    const row = this.#rows.get(kind) ?? { answers: new Map(), slowestMs: 0 }
    this.#rows.set(kind, row)
    const label = status >= 500 ? `${status} ${/"code":"(\w+)"/.exec(text)?.[1]}` : String(status)
    row.answers.set(label, (row.answers.get(label) ?? 0) + 1)
    row.slowestMs = Math.max(row.slowestMs, ms)
    const fault = status === 503 ? undefined : faultOf(status, text, expected)
    if (fault !== undefined) this.#note(`${kind} is ${fault}: ${status} ${text}`)
  }

  /** An answer that could be judged only later. */
  confirm(kind: string, isTrue: boolean, text: string): void {
    if (!isTrue) this.#note(`${kind} is wrong: ${text}`)
  }

  /** How many answers there are of each kind. */
  counts(): [string, number][] {
    return [...this.#rows].map(([kind, { answers }]) => [kind, sum(answers.values())])
  }

  /** Counts answers of all kinds. */
  count(label: RegExp): number {
    const found = [...this.#rows.values()].flatMap(({ answers }) => [...answers])
    return sum(found.filter(([each]) => label.test(each)).map(([, count]) => count))
  }

  toString(): string {
    const rows = [...this.#rows].map(([kind, { answers, slowestMs }]) => {
      const counts = [...answers].map(([label, count]) => `${label}: ${count}`)
      return `${kind.padEnd(15)} ${counts.join(', ')}; the slowest took ${Math.round(slowestMs)} ms`
    })
    return rows.join('\n')
  }

  #note(what: string): void {
    if (this.untrue.length < 10) this.untrue.push(what.slice(0, 300))
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

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, each) => total + each, 0)
}
