import { readFileSync } from 'node:fs'
import type { Definition } from '../definition/definition.ts'
import { withArticle } from '../definition/words.ts'
import { ownCommand } from '../lib/operating/own-command.ts'

/** What the engine refers to in the page; a test finds each there. */
export const runbookHeadings = [
  'When something is wrong',
  'What keeps working during a fault',
  'A stalled projector',
  'Parked events',
  'Publishing stands still',
  'A batch that cannot be decoded',
  'Incomplete read models',
  'Scaling',
] as const
export type RunbookHeading = (typeof runbookHeadings)[number]

/** What operators meet, and what to do about it, in the words of this service. */
export function runbookOf({ service: { name, title }, kinds: [{ home }], names }: Definition): string {
  const words: Readonly<Record<string, string>> = {
    name,
    title,
    noun: home.noun,
    'a noun': withArticle(home.noun),
    topic: `${name}.${names.collections[0]}`,
    command: ownCommand(),
  }
  const page = readFileSync(new URL('runbook.md', import.meta.url), 'utf8')
  return page.replaceAll(/\{\{([a-z ]+)\}\}/g, (whole, word: string) => words[word] ?? whole)
}

const headingForm = /^#+ /

/** From under the heading to the next one that is no lower; undefined if there is no such heading. */
export function sectionOf(page: string, heading: string): string | undefined {
  const lines = page.split('\n')
  const first = lines.findIndex((line) => headingForm.test(line) && line.replace(headingForm, '') === heading)
  if (first < 0) return undefined
  const level = lines[first]?.indexOf(' ') ?? 0
  const behind = lines.slice(first + 1)
  const length = behind.findIndex((line) => headingForm.test(line) && line.indexOf(' ') <= level)
  return behind
    .slice(0, length < 0 ? undefined : length)
    .join('\n')
    .trim()
}
