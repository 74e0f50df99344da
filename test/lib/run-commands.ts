import { vi } from 'vitest'
import { runCommand } from '../../src/engine/cli/program.ts'
import type { Definition } from '../../src/engine/definition/definition.ts'
import type { Environment } from '../brokers/program.ts'

/** Runs commands, all at once, as a process with these variables and no others would; it would also take a second each. */
export async function runCommands(definition: Definition, environment: Environment, ...lines: readonly string[]) {
  const [output, errors] = [capture('stdout'), capture('stderr')]
  const ofThisProcess = process.env
  process.env = { ...environment }
  try {
    const codes = await Promise.all(
      lines.map((line) => runCommand(definition.service.name, () => definition, line.split(' ').filter(Boolean))),
    )
    return { code: Math.max(...codes), output: output.text(), errors: errors.text() }
  } finally {
    process.env = ofThisProcess
    process.exitCode = undefined
    output.restore()
    errors.restore()
  }
}

/** As `write` of a stream that takes everything. */
export function written(_text: unknown, ...more: unknown[]): boolean {
  const done = more.at(-1)
  if (typeof done === 'function') done()
  return true
}

function capture(stream: 'stdout' | 'stderr') {
  const write = vi.spyOn(process[stream], 'write').mockImplementation(written)
  const listeners = process[stream].listeners('error')
  const restore = () => {
    write.mockRestore()
    for (const added of process[stream].listeners('error').filter((each) => !listeners.includes(each)))
      process[stream].off('error', added as () => void)
  }
  return { text: () => write.mock.calls.map(([text]) => text).join(''), restore }
}
