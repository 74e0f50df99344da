/**
 * `npm run attacks`: what another client notices of each attack, and what the process needs, with a heap of 512 MB. Each
 * begins with a new process. Words choose attacks by their names. Linux only.
 */
import { Command } from 'commander'
import { count, runToEnd, say } from '../../bench/run.ts'
import { embedded, startProcess } from '../../bench/systems/service.ts'
import { table } from '../../bench/table.ts'
import type { Attack } from './attackers.ts'
import { addPets, bytesAndTurns, heapOption } from './bytes-and-turns.ts'
import { type Seen, seenDuring } from './well-behaved.ts'

interface Options {
  readonly seconds: number
}

const program = new Command('npm run attacks --')
  .description('Attacks the embedded service with a heap of 512 MB, and tells what another client notices')
  .argument('[words...]', 'attacks whose names have one of them')
  .option('--seconds <n>', 'how long each attack takes', count, 10)
  .parse()
const { seconds } = program.opts<Options>()
const words = program.args

const keys = { attacker: 'the-key-of-the-attacker', client: 'the-key-of-another-client' }
const environment = { API_KEYS: Object.values(keys).join(), NODE_OPTIONS: heapOption }

await runToEnd(async (stack) => {
  const rows: (readonly [string, Seen])[] = []
  for (const [name, attack] of Object.entries(bytesAndTurns(keys.attacker))) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue
    say(name)
    rows.push([name, await seenOf(stack.use(new AsyncDisposableStack()), attack)])
  }
  process.stdout.write(report(rows))
})

async function seenOf(stack: AsyncDisposableStack, attack: Attack): Promise<Seen> {
  const service = await startProcess(stack, { ...(await embedded.prepare(stack)), ...environment })
  const id = await addPets(service.url, keys.client)
  const paths = ['/livez', `/v1/pets/${id}`]
  const seen = await seenDuring(attack, service, { paths, key: keys.client, attackMs: seconds * 1000 })
  await stack.disposeAsync()
  return seen
}

function report(rows: readonly (readonly [string, Seen])[]): string {
  const columns: readonly (readonly [title: string, cell: (seen: Seen) => string])[] = [
    ['slowest answer, ms', ({ slowestMs }) => slowestMs.toFixed(0)],
    ['statuses', ({ statuses }) => statuses.join(' ')],
    ['bytes that wait, MiB', ({ waitingBytes }) => (waitingBytes === undefined ? '' : asMiB(waitingBytes))],
    ['memory, MiB', ({ memoryMiB }) => memoryMiB.toFixed(0)],
    ['lives', ({ lives }) => (lives ? 'yes' : 'no')],
  ]
  const figures = columns.map(([title, cell]) => ({ title, cell: ([, seen]: readonly [string, Seen]) => cell(seen) }))
  return table([{ title: 'attack', cell: ([name]) => name }, ...figures], rows)
}

function asMiB(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}
