import { Command, InvalidArgumentError } from 'commander'

/** Of every benchmark. */
export interface Options {
  readonly seconds: number
  readonly rounds: number
  readonly embedded: boolean
  readonly json: boolean
}

export interface ReadOptions extends Options {
  readonly connections: number
  readonly pets: number
}

export interface WriteOptions extends Options {
  /** Each is measured in turn. */
  readonly connections: readonly number[]
}

/** Prints help or what is wrong, and ends the process, where the arguments say so. */
export function readOptions(): ReadOptions {
  const command = new Command('npm run bench --')
    .description('Reads of the service beside a bare Fastify, as ratios of one run: see bench/README.md.')
    .option('--connections <n>', 'connections of the client, kept alive', count, 64)
    .option('--pets <n>', 'pets in the store', pets, 20_000)
  return parse(command, 'bare, service, bare, service, …')
}

/** As `readOptions`. */
export function writeOptions(): WriteOptions {
  const command = new Command('npm run bench:write --')
    .description('Writes of the service beside a bare Fastify and a naive server: see bench/README.md.')
    .option('--connections <n,n,…>', 'connections of the client, kept alive', counts, [1, 64, 256])
  return parse(command, 'bare, naive, wait=0, default, bare, …')
}

function parse<T extends Options>(command: Command, turns: string): T {
  return command
    .option('--seconds <n>', 'length of a round', count, 3)
    .option('--rounds <n>', `rounds of each, in turn: ${turns}`, count, 5)
    .option('--no-embedded', 'leave out the second table, that of the embedded default')
    .option('--json', 'print every round as JSON instead of tables', false)
    .parse()
    .opts<T>()
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return Number(text)
}

function counts(text: string): number[] {
  return text.split(',').map(count)
}

const petsMin = 100

function pets(text: string): number {
  const number = count(text)
  if (number < petsMin)
    throw new InvalidArgumentError(`It must be ${petsMin} at least, for pages of 20 of each status.`)
  return number
}
