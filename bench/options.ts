import { Command, InvalidArgumentError } from 'commander'

export interface Options {
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  readonly pets: number
  readonly embedded: boolean
  readonly json: boolean
}

/** Prints help or what is wrong, and ends the process, where the arguments say so. */
export function readOptions(): Options {
  return new Command('npm run bench --')
    .description('Reads of the service beside a bare Fastify, as ratios of one run: see bench/README.md.')
    .option('--connections <n>', 'connections of the client, kept alive', count, 64)
    .option('--seconds <n>', 'length of a round', count, 3)
    .option('--rounds <n>', 'rounds of each, in turn: bare, service, bare, service, …', count, 5)
    .option('--pets <n>', 'pets in the store', pets, 20_000)
    .option('--no-embedded', 'leave out the second table, that of the embedded default')
    .option('--json', 'print every round as JSON instead of tables', false)
    .parse()
    .opts<Options>()
}

function count(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return Number(text)
}

const petsMin = 100

function pets(text: string): number {
  const number = count(text)
  if (number < petsMin)
    throw new InvalidArgumentError(`It must be ${petsMin} at least, for pages of 20 of each status.`)
  return number
}
