import type { Command } from 'commander'
import { readConfig } from '../app/config.ts'
import { ConfigError } from '../app/variables.ts'
import type { Definition } from '../definition/definition.ts'
import { OutOfReachError } from '../lib/errors/errors.ts'
import { print } from './output.ts'

/** The commands that the service has of its own. They read what follows their names themselves. */
export function addCommands(program: Command, definition: Definition): void {
  for (const { name, summary, run } of definition.service.cli ?? []) {
    program
      .command(name)
      .description(summary)
      .argument('[arguments...]')
      .allowUnknownOption()
      .helpOption(false)
      .action(async (argv: readonly string[]) => {
        const url = `http://127.0.0.1:${readConfig(definition, process.env).port}`
        const text = await run(argv, url).catch(rethrow)
        if (text !== '') await print(text)
      })
  }
}

/** With the exit code that the command says by the kind of its error. */
function rethrow(error: unknown): never {
  const { code = '', message, cause } = error as NodeJS.ErrnoException
  if (error instanceof RangeError || code.startsWith('ERR_PARSE_ARGS')) throw new ConfigError(message, { cause: error })
  throw cause instanceof TypeError ? new OutOfReachError(message, { cause }) : error
}
