import type { TSchema } from 'typebox'
import { checkDefinition } from './definition/check.ts'
import { type Definition, define } from './definition/definition.ts'
import type { CommandRoute, Service } from './definition/service.ts'
import type { AnyEvent } from './definition/stream.ts'
import type { Program } from './program.ts'

export function defineService<State, Command, Event extends AnyEvent>(
  service: Service<State, Command, Event>,
): Program {
  return {
    service,
    async start(env) {
      const { run } = await import('./app/run.ts')
      return await run(() => defined(service), env)
    },
    async command(argv) {
      const { runCommand } = await import('./cli/program.ts')
      return await runCommand(() => defined(service), argv)
    },
  }
}

function defined(service: Service): Definition {
  const definition = define(service)
  checkDefinition(definition)
  return definition
}

/** Infers the type of the body, for `command` and `key`, and then forgets it. */
export function command<Command, Body extends TSchema>(route: CommandRoute<Command, Body>): CommandRoute<Command> {
  return route as unknown as CommandRoute<Command>
}
