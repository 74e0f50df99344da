import { Command, InvalidArgumentError } from 'commander'

/** Options that every benchmark has. */
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

export interface OrderOptions extends Omit<Options, 'embedded'> {
  readonly connections: number
}

export interface ProjectOptions extends Omit<Options, 'embedded'> {
  readonly events: number
  /** Whether half of the events are orders, one for each pet. */
  readonly orders: boolean
  /** The sizes of the stores read from, ascending. */
  readonly pets: readonly number[]
  /** Folder. */
  readonly charts: string
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

/** As `readOptions`. */
export function orderOptions(): OrderOptions {
  const command = new Command('npm run bench:order --')
    .description('placeOrder of distinct pets on Kafka and Redis beside a bare Fastify: see bench/README.md.')
    .option('--connections <n>', 'connections of the client, kept alive', count, 64)
  return withRounds(command, 'bare, placeOrder, bare, …').parse().opts<OrderOptions>()
}

/** As `readOptions`. */
export function projectOptions(): ProjectOptions {
  const command = new Command('npm run bench:project --')
    .description('Replay of the log, memory of Redis, and latency over the size of the store: see bench/README.md.')
    .option('--events <n>', 'events to replay', many, 200_000)
    .option('--orders', 'replay a log with one order for each pet', false)
    .option('--pets <n,n,…>', 'sizes of the stores read from, ascending', sizes, [1000, 100_000, 1_000_000])
    .option('--charts <folder>', 'where the charts are written', 'docs/charts')
  return withRounds(command, 'raw consumer, Kafka → Redis, …').parse().opts<ProjectOptions>()
}

function parse<T extends Options>(command: Command, turns: string): T {
  return withRounds(command, turns)
    .option('--no-embedded', 'leave out the second table, that of the embedded default')
    .parse()
    .opts<T>()
}

function withRounds(command: Command, turns: string): Command {
  return command
    .option('--seconds <n>', 'length of a round', count, 3)
    .option('--rounds <n>', `rounds of each, in turn: ${turns}`, count, 5)
    .option('--json', 'print every round as JSON instead of tables', false)
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return Number(text)
}

function many(text: string): number {
  if (!/^[1-9]\d{2,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, 100 at least.')
  return Number(text)
}

function sizes(text: string): number[] {
  return text
    .split(',')
    .map(many)
    .toSorted((a, b) => a - b)
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
