import { type Command, InvalidArgumentError } from 'commander'
import { type IssuedKey, issueKey, type NewKey, revokeKey, rotateKey } from '../api-keys/api-keys.ts'
import { readKeys, whyUnreadable } from '../api-keys/key-file.ts'
import { readKeyUse } from '../api-keys/key-use.ts'
import { readConfig } from '../app/config.ts'
import type { Definition } from '../definition/definition.ts'
import { timeOfDay } from '../lib/clock.ts'
import { operatingScope } from '../lib/operating/operating-scope.ts'
import { ownCommand } from '../lib/operating/own-command.ts'
import { asksFirst, confirm } from './confirm.ts'
import { addAction, type CommandResult, type Options, operator, table } from './output.ts'

export function addCommands(program: Command, definition: Definition): void {
  const scopes = [...definition.scopes, operatingScope]
  const keys = program.command('keys').description('API keys: running instances follow every change within a second')
  const issuing = keys
    .command('issue')
    .option('--name <name>', 'whom the key is for')
    .option(
      '--scopes <list>',
      `what it is for, of ${scopes.join(', ')}: all but the last, if nothing is said`,
      (text) => readScopes(scopes, text),
    )
    .option('--expires <time>', 'how long it is valid, as 90d, 24h or 30m', readDuration)
    .option('--rotate <id>', 'the key that it takes the place of: it has the same owner')
    .option('--overlap <time>', 'how long that one stays valid', readDuration)
  addAction(issuing, 'Make a key and print it; only its hash is stored', (options: IssueOptions, command: Command) =>
    issue(definition, options, command),
  )
  addAction(keys.command('list'), 'List the keys', () => list(definition))
  addAction(asksFirst(keys.command('revoke <id>')), 'Revoke a key by its id', (id: string, options: Options) =>
    revoke(definition, id, options),
  )
}

interface IssueOptions extends Options {
  readonly name?: string
  readonly scopes?: readonly string[]
  readonly expires?: number
  readonly rotate?: string
  readonly overlap?: number
}

const overlapMs = 86_400_000

function issue(
  definition: Definition,
  { rotate, overlap, json, expires, ...given }: IssueOptions,
  command: Command,
): CommandResult {
  const now = timeOfDay()
  const expiresAt = expires === undefined ? undefined : new Date(now.getTime() + expires)
  const options = { ...given, service: definition.service.name, issuedBy: operator(), ...(expiresAt && { expiresAt }) }
  if (rotate === undefined) {
    if (overlap !== undefined) command.error('error: --overlap says how long the key of --rotate stays valid')
    if (options.name === undefined) command.error("error: required option '--name <name>' not specified")
  }
  const file = keyFile(definition)
  if (rotate === undefined) return show(file, issueKey(file, options as NewKey, now), json)
  const overlapUntil = new Date(now.getTime() + (overlap ?? overlapMs))
  const issued = rotateKey(file, rotate, options, { now, overlapUntil })
  if (issued === undefined) throw unknownKey(rotate)
  process.stderr.write(`Key ${rotate} is valid until ${overlapUntil.toISOString()}.\n`)
  return show(file, issued, json)
}

function show(file: string, { id, name, key, expiresAt }: IssuedKey, json: boolean | undefined): CommandResult {
  const problem = whyUnreadable(file)
  if (problem !== undefined) process.stderr.write(`Warning: ${problem}\n`)
  const until = expiresAt === undefined ? '' : `, valid until ${expiresAt}`
  if (!json) process.stderr.write(`Key ${id} for ${name}${until}, shown this once:\n`)
  return { json: { id, name, key, expiresAt }, text: key }
}

function list(definition: Definition): CommandResult {
  const file = keyFile(definition)
  const used = readKeyUse(file)
  const keys = (readKeys(file) ?? []).map(({ sha256: _, ...key }) => ({
    scopes: [...definition.scopes],
    owner: key.id,
    ...key,
    lastUsedAt: used[key.id],
  }))
  const header = ['ID', 'NAME', 'OWNER', 'SCOPES', 'ISSUED', 'EXPIRES', 'LAST USED']
  const rows = keys.map(({ id, name, owner, scopes: allowed, createdAt, expiresAt, lastUsedAt }) => {
    const times = [createdAt.slice(0, 10), toMinute(expiresAt), toMinute(lastUsedAt)]
    return [id, name, owner, allowed.join(','), ...times]
  })
  return { json: keys, text: table(header, rows) }
}

function toMinute(time: string | undefined): string {
  return time === undefined ? 'never' : time.slice(0, 16).replace('T', ' ')
}

async function revoke(definition: Definition, id: string, options: Options): Promise<CommandResult> {
  const file = keyFile(definition)
  const found = readKeys(file)?.find((key) => key.id === id)
  if (found === undefined) throw unknownKey(id)
  await confirm(`Key ${id} of ${found.name} will be revoked.`, options)
  if (!revokeKey(file, id)) throw unknownKey(id)
  return { json: { id, revoked: true }, text: `Key ${id} is revoked.` }
}

function unknownKey(id: string): Error {
  return new Error(`There is no key with the id ${id}; \`${ownCommand()} keys list\` shows them.`)
}

function keyFile(definition: Definition): string {
  return readConfig(definition, process.env).apiKeysFile
}

function readScopes(scopes: readonly string[], text: string): string[] {
  const named = text.split(',').map((scope) => scope.trim())
  if (!named.every((scope) => scopes.includes(scope)))
    throw new InvalidArgumentError(`They are ${scopes.join(', ')}, separated by commas.`)
  return [...new Set(named)]
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** In milliseconds. */
function readDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  if (count === undefined) throw new InvalidArgumentError('It is a number and a unit, as 90d, 24h or 30m.')
  return Number(count) * unitMs[unit as keyof typeof unitMs]
}
