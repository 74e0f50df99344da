import type { TSchema } from 'typebox'
import { checkDefinition } from './definition/check.ts'
import { type Definition, define } from './definition/definition.ts'
import type { CommandRoute } from './door/command.ts'
import type { Service } from './door/service.ts'
import type { AnyEvent, Stream } from './door/stream.ts'
import type { Program } from './program.ts'

export function defineService<Code extends string, Collection extends string, Noun extends string>(
  service: Service<Code, Collection, Noun>,
): Program {
  const command = async (argv: readonly string[]) =>
    (await import('./cli/program.ts')).runCommand(nameOf(service), () => defined(service), argv)
  return {
    service,
    async run(argv) {
      if (argv.length > 0) process.exitCode = await command(argv)
      else await (await import('./app/run.ts')).run(nameOf(service), () => defined(service), process.env)
    },
    command,
  }
}

/** What messages begin with, also where the definition lacks a name. */
function nameOf({ name }: Partial<Service>): string {
  return name ?? 'service'
}

/** Throws DefinitionError, which names each place, unless the service can be run as it is defined. */
export function defined(service: Service): Definition {
  const definition = define(service)
  checkDefinition(definition)
  return definition
}

/** A kind of stream as it is given: infers its types, which `defineService` need not know, and tests do. */
export function stream<
  State,
  Command,
  Event extends AnyEvent,
  Code extends string = never,
  const Collection extends string = string,
>(
  kind: Stream<State, Command, Event, Code, Collection> & NamesItsEvents<Event>,
): Stream<State, Command, Event, Code, Collection> {
  return kind
}

/** What the compiler says where a `decide` without a return type has made a text of any event's name. */
type NamesItsEvents<Event extends AnyEvent> = string extends Event['type']
  ? { readonly decide: 'Say behind its parameters what `decide` returns: `type` of its events is any text' }
  : unknown

/** Infers the type of the body, for `command` and `key`, and then forgets it; what it names is for `defineService`. */
export function command<
  const Command,
  Body extends TSchema,
  Collection extends string = never,
  Code extends string = never,
>(
  route: CommandRoute<Command, Body, Collection> & { readonly rejects: Readonly<Record<Code, string>> },
): CommandRoute<Command, TSchema, NoInfer<Collection>, NoInfer<Code>> {
  return route as unknown as CommandRoute<Command, TSchema, Collection, Code>
}
