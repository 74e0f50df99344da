import type { Command } from 'commander'
import { ConfigError } from '../app/variables.ts'
import type { Definition } from '../definition/definition.ts'
import { runbookOf, sectionOf } from '../operations/runbook.ts'
import { addAction, type CommandResult } from './output.ts'

export function addCommands(program: Command, definition: Definition): void {
  const description = 'Say what operators meet, and what to do about it: all, or the part under a heading'
  addAction(program.command('runbook [part]'), description, (heading?: string) => show(definition, heading))
}

function show(definition: Definition, heading: string | undefined): CommandResult {
  const page = runbookOf(definition)
  const text = heading === undefined ? page.trim() : sectionOf(page, heading)
  if (text !== undefined) return { json: { text }, text }
  const headings = page.match(/(?<=^#+ ).+$/gm) ?? []
  throw new ConfigError(`The runbook has no heading ${heading}. It has:\n${headings.join('\n')}`)
}
