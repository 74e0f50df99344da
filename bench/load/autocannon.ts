import cannon from 'autocannon'
import { headersOf, type Load, type LoadClient, refuseErrors } from './load.ts'

/** Each connection builds all requests before it starts. */
const pathsMax = 200

/** The client if wrk is not installed. It takes far more of the shared cores, which draws the ratios towards 1. */
export const autocannon: LoadClient = {
  name: 'autocannon',
  async run({ url, load, connections, seconds }) {
    const result = await cannon({ url, connections, duration: seconds, requests: requestsOf(load) })
    const { errors, timeouts, non2xx } = result
    refuseErrors(url, load, { 'failed connections': errors, timeouts, 'statuses outside 2xx': non2xx })
    const { latency, requests, duration } = result
    return { requestsPerSecond: requests.total / duration, p50: latency.p50, p99: latency.p99 }
  },
}

function requestsOf(load: Load) {
  const { method, paths, body } = load
  const headers = headersOf(load)
  const step = Math.ceil(paths.length / pathsMax)
  const some = paths.filter((_, index) => index % step === 0)
  return some.map((path) => ({ method, path, headers, ...(body === undefined ? {} : { body }) }))
}
