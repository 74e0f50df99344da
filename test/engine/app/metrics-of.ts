import { type MetricsOptions, serviceMetrics } from '../../../src/engine/app/metrics.ts'
import { Traffic } from '../../../src/engine/http/wire/traffic.ts'
import { Distribution } from '../../../src/engine/lib/distribution.ts'

/** The metrics of these sources; nothing has happened at the others. */
export function metricsOf(sources: Partial<MetricsOptions> = {}, service = 'theatre') {
  const nothing = () => new Distribution([1])
  return serviceMetrics(service, {
    lag: { lag: { status: 'unknown', reason: 'not looked at yet' } },
    log: { undecodable: [], warnings: [] },
    feed: { followers: 0 },
    acknowledged: { lost: { id_taken: 0, gone: 0 }, unfollowed: 0 },
    appender: { queued: 0, appendRecords: nothing(), appendSeconds: nothing() },
    traffic: new Traffic(),
    shards: [],
    publishing: undefined,
    output: { lost: 0, warnings: [] },
    settingFiles: { warnings: [] },
    ...sources,
  })
}
