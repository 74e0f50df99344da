import { setTimeout as delay, setInterval as every } from 'node:timers/promises'
import type { Distribution } from '../../src/engine/lib/distribution.ts'
import { say } from '../run.ts'
import type { SoakForm } from './form.ts'
import type { LoadCounts, MixedLoad } from './load.ts'
import { type ProcessState, processState } from './process-state.ts'

const samplesPerMinute = 12
const progressMinutes = 5
const tickMs = 10

/** What was seen at one time, and counted since the sample before. */
export interface Sample extends LoadCounts {
  /** Since the run began. */
  readonly minutes: number
  readonly seconds: number
  /** In the order of the processes of the form. */
  readonly processes: readonly ProcessState[]
  readonly sizes: Readonly<Record<string, number>>
}

export interface Watched {
  readonly form: SoakForm
  readonly rate: number
  /** Sizes when the run began. */
  readonly before: Sample['sizes']
  readonly samples: readonly Sample[]
}

/** Sends requests as fast as `clients` get answers; resolves to how many were answered per second. */
export async function calibrate(load: MixedLoad, clients: number, seconds: number): Promise<number> {
  const start = performance.now()
  async function client(): Promise<void> {
    while (performance.now() - start < seconds * 1000) await load.send()
  }
  await Promise.all(Array.from({ length: clients }, client))
  const { answered, failures } = load.take()
  if (failures.size > 0) say(`failed at full load, and not counted: ${failuresAsText(failures)}`)
  return answered / ((performance.now() - start) / 1000)
}

/** Keeps up the load for some minutes, and takes samples. */
export async function watch(form: SoakForm, load: MixedLoad, rate: number, minutes: number): Promise<Watched> {
  const before = await form.sizes()
  const samples: Sample[] = []
  const start = performance.now()
  const paced = pace(load, rate, minutes * 60)
  const count = minutes * samplesPerMinute
  for (let number = 1; number <= count; number++) {
    await delay(start + (number / samplesPerMinute) * 60_000 - performance.now())
    if (number === count) await paced
    const sample = await take(form, load, (performance.now() - start) / 60_000, samples.at(-1)?.minutes ?? 0)
    samples.push(sample)
    if (number === count || number % (progressMinutes * samplesPerMinute) === 0) say(asText(form, sample))
  }
  return { form, rate, before, samples }
}

/** Sends what is due, whether or not earlier requests are answered. Resolves once all are answered. */
async function pace(load: MixedLoad, rate: number, seconds: number): Promise<void> {
  const start = performance.now()
  let sent = 0
  for await (const _ of every(tickMs)) {
    const elapsed = Math.min((performance.now() - start) / 1000, seconds)
    for (; sent < Math.floor(elapsed * rate); sent++) load.sendOrSkip()
    if (elapsed === seconds) break
  }
  await load.settled()
}

async function take(form: SoakForm, load: MixedLoad, minutes: number, last: number): Promise<Sample> {
  const seconds = (minutes - last) * 60
  const processes = form.processes.map(({ pid }) => processState(pid))
  return { ...load.take(), minutes, seconds, processes, sizes: await form.sizes() }
}

/** The value that a share of all values do not exceed. */
export function quantile(distributions: readonly Distribution[], share: number): number {
  const bounds = distributions[0]?.bounds ?? []
  const counts = bounds.map((_, bucket) => sum(distributions.map(({ counts }) => counts[bucket] ?? 0)))
  const wanted = share * sum(distributions.flatMap(({ counts }) => counts))
  let seen = 0
  for (const [bucket, bound] of bounds.entries()) {
    seen += counts[bucket] ?? 0
    if (seen >= wanted) return bound
  }
  return Number.POSITIVE_INFINITY
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

export function failuresAsText(failures: ReadonlyMap<string, number>): string {
  return [...failures].map(([kind, times]) => `${times} × ${kind}`).join(', ')
}

function asText(form: SoakForm, { minutes, answered, seconds, failures, latencies, processes, sizes }: Sample): string {
  const states = processes.map(
    ({ memoryMiB, descriptors }, index) =>
      `${form.processes[index]?.name} ${memoryMiB.toFixed(0)} MiB, ${descriptors} descriptors`,
  )
  return [
    `minute ${minutes.toFixed(0)}: ${(answered / seconds).toFixed(0)} requests/s`,
    `${sum([...failures.values()])} failed`,
    `p99 ${quantile([latencies], 0.99).toFixed(1)} ms`,
    ...states,
    ...Object.entries(sizes).map(([name, bytes]) => `${name} ${asMiB(bytes)} MiB`),
  ].join(', ')
}

export function asMiB(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}
