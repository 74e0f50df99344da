import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Metrics } from '../http/health.ts'
import { type Lag, type PartitionLag, parkedIn } from '../projector/lag-meter.ts'

const prefix = 'petstore_'

/**
 * What operators watch, in the text format of Prometheus. Values are taken when they are asked for, from the last look
 * of the lag meter; what that does not know has no line, so that no stale or made-up figure is drawn.
 *
 * Requests are not counted here, as that would cost each of them: decision 0014.
 */
export class ServiceMetrics implements Metrics {
  readonly #registry = new Registry() // not the global one, which outlives a service closed in this process

  constructor(lag: { readonly lag: Lag }) {
    collectDefaultMetrics({ register: this.#registry })
    this.#addProjection(() => partitionsOf(lag.lag))
    this.#addAnswers(() => lag.lag)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #addProjection(partitions: () => readonly PartitionLag[] | undefined): void {
    const registers = [this.#registry]
    const byPartition = { registers, labelNames: ['partition'] as const }
    new Gauge({
      ...byPartition,
      name: `${prefix}projection_lag_events`,
      help: 'Records in the log that the read models do not have yet',
      collect() {
        this.reset()
        for (const { partition, events } of partitions() ?? []) this.set({ partition }, events)
      },
    })
    new Gauge({
      ...byPartition,
      name: `${prefix}projection_lag_seconds`,
      help: 'For how long the read models have been behind the log, as seen by this process',
      collect() {
        this.reset()
        for (const { partition, seconds } of partitions() ?? []) this.set({ partition }, seconds)
      },
    })
    new Counter({
      registers,
      labelNames: ['partition', 'outcome'] as const,
      name: `${prefix}projection_records_total`,
      help: 'Records handled for the active read models, by what became of them; those parked are a gauge of their own',
      collect() {
        this.reset()
        for (const { partition, checkpoint } of partitions() ?? []) {
          for (const outcome of ['applied', 'duplicate', 'superseded', 'discarded', 'skipped'] as const) {
            this.inc({ partition, outcome }, checkpoint.counts[outcome])
          }
        }
      },
    })
    new Gauge({
      registers,
      name: `${prefix}parked_events`,
      help: 'Events that could not be applied and wait for an operator',
      collect() {
        const known = partitions()
        if (known === undefined) this.remove()
        else this.set(parkedIn(known))
      },
    })
  }

  #addAnswers(lag: () => Lag): void {
    const answers = {
      event_log_up: { help: 'Whether the log answered when last looked at', of: logAnswers },
      read_models_up: { help: 'Whether the read models answered when last looked at', of: readModelsAnswer },
    }
    for (const [name, { help, of }] of Object.entries(answers)) {
      new Gauge({
        registers: [this.#registry],
        name: `${prefix}${name}`,
        help,
        collect() {
          const answered = of(lag())
          if (answered === undefined) this.remove()
          else this.set(Number(answered))
        },
      })
    }
  }
}

function partitionsOf(lag: Lag): readonly PartitionLag[] | undefined {
  return lag.status === 'known' ? lag.partitions : undefined
}

function logAnswers(lag: Lag): boolean | undefined {
  return lag.status === 'known' || lag.logAnswers
}

function readModelsAnswer(lag: Lag): boolean | undefined {
  return lag.status === 'known' || lag.readModelsAnswer
}
