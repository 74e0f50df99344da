import type { Command } from 'commander'
import { checkUp } from '../app/checkup.ts'
import type { Definition } from '../definition/definition.ts'
import { addAction, type CommandResult, exitCodes, table } from './output.ts'

export function addCommands(program: Command, definition: Definition): void {
  const description = 'Check settings, folder, brokers, topics, keys and clock, and say what to do. It changes nothing'
  addAction(program.command('doctor'), description, () => examine(definition))
}

async function examine(definition: Definition): Promise<CommandResult> {
  const findings = await checkUp(definition, process.env)
  if (findings.some(({ state }) => state === 'failed')) process.exitCode = exitCodes.notAsItShouldBe
  const rows = findings.map(({ what, state, detail }) => [state, what, detail])
  return { json: findings, text: table(['STATE', 'WHAT', 'DETAIL'], rows) }
}
