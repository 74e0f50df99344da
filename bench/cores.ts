/** `npm run bench:cores`: what a machine with several cores should run, on Kafka and Redis. Linux only. See README.md. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Command } from 'commander'
import { type Form, startForm } from './cores/forms.ts'
import {
  type CoreCycle,
  type FormName,
  formNames,
  type LoadName,
  loadNames,
  type Measured,
  report,
} from './cores/report.ts'
import { wrk, wrkIsThere } from './load/wrk.ts'
import { count, type MeasureOptions, printJson, runToEnd, say, withRounds } from './run.ts'
import { caughtUp } from './scenarios.ts'
import { type BrokerCpu, watchBrokers } from './systems/broker-cpu.ts'
import { cpuTime } from './systems/cpu-time.ts'
import { withBrokers } from './systems/service.ts'

const command = new Command('npm run bench:cores --')
  .description(
    'Measures one process, api and projector, and two apis and a projector, on Kafka and Redis: see bench/README.md.',
  )
  .option('--connections <n>', 'connections of the client, kept alive', count, 64)
  .option('--publish <what>', 'as the setting PUBLISH: none, events, documents or both', 'events,documents')
const options = withRounds(command, `${formNames.join(', ')}, and back`)
  .parse()
  .opts<MeasureOptions & { readonly connections: number; readonly publish: string }>()

/** For each load of each form: after nine of them that append the virtual machine of Kafka is warm too. */
const warmUpSeconds = 10
/** Linux counts the time of children that have ended in hundredths of a second. */
const tickMicroseconds = 10_000

type Forms = Readonly<Record<FormName, Form>>

await runToEnd(async (stack) => {
  if (!(await wrkIsThere())) throw new Error('wrk is needed: other clients cannot send to two servers')
  const environment = { ...(await withBrokers(stack)), PUBLISH: options.publish }
  const brokers = watchBrokers(stack, environment)
  const forms = {} as Record<FormName, Form>
  for (const name of formNames) forms[name] = await startForm(stack, environment, name)
  say('warming up')
  await cycle(forms, formNames, brokers, warmUpSeconds)
  const cycles: CoreCycle[] = []
  for (let round = 1; round <= options.rounds; round++) {
    cycles.push(await cycle(forms, round % 2 === 1 ? formNames : formNames.toReversed(), brokers, options.seconds))
    say(`round ${round} of ${options.rounds}`)
  }
  if (options.json) return printJson({ cores: availableParallelism(), ...options, cycles })
  process.stdout.write(report(cycles, availableParallelism()))
})

async function cycle(
  forms: Forms,
  order: readonly FormName[],
  brokers: BrokerCpu,
  seconds: number,
): Promise<CoreCycle> {
  const measured = Object.fromEntries(order.map((name) => [name, {}])) as Record<FormName, Record<LoadName, Measured>>
  for (const load of loadNames)
    for (const name of order) measured[name][load] = await measure(forms[name], load, brokers, seconds)
  return measured
}

async function measure(form: Form, name: LoadName, brokers: BrokerCpu, seconds: number): Promise<Measured> {
  const { urls, environment, loads } = form
  const [start, before] = [performance.now(), await cpuOf(form, brokers)]
  const round = await wrk.run({ url: urls[0], urls, load: loads[name], connections: options.connections, seconds })
  if (name !== 'GET by id') await caughtUp(urls[0], environment)
  const [elapsed, after] = [(performance.now() - start) * 1000, await cpuOf(form, brokers)]
  const requests = round.requestsPerSecond * seconds
  const spent = (part: keyof typeof after) => after[part] - before[part]
  const costs = {
    api: spent('api') / requests,
    projector: spent('projector') / requests,
    kafka: spent('kafka') / requests,
    redis: spent('redis') / requests,
    client: spent('client') / requests,
  }
  const all = Object.values(costs).reduce((sum, each) => sum + each, 0)
  return { ...round, costs, busy: (all * requests) / elapsed }
}

/** Microseconds so far. */
async function cpuOf({ answering, projecting }: Form, { kafka, redis }: BrokerCpu) {
  const sum = (servers: Form['answering']) => servers.reduce((all, { pid }) => all + cpuTime(pid), 0)
  return {
    api: sum(answering),
    projector: sum(projecting),
    kafka: kafka(),
    redis: await redis(),
    client: cpuOfEndedChildren(),
  }
}

/** Those that this process waited for, as it does for the client. */
function cpuOfEndedChildren(): number {
  const [, behindName = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ')
  const fields = behindName.split(' ')
  return (Number(fields[13]) + Number(fields[14])) * tickMicroseconds
}
