import { expect, vi } from 'vitest'
import { Client } from './client.ts'

interface PublisherCheck {
  readonly failure?: string
  readonly lanes: readonly number[]
  readonly still: readonly { readonly lane: number; readonly reason: string }[]
  readonly warnings?: readonly { readonly code: string; readonly message: string }[]
}

/** What `/readyz` of a process says of its only publisher. */
async function publisherOf({ url }: { readonly url: string }): Promise<PublisherCheck | undefined> {
  const { body } = await new Client({ url }).request('/readyz')
  return (body as { checks: { publishing?: { publishers: PublisherCheck[] } } }).checks.publishing?.publishers[0]
}

/** Once a warning of this code is in `/readyz`, and counted in the metrics, its message. */
export async function untilWarned(service: { readonly url: string }, code: string): Promise<string> {
  return await vi.waitFor(
    async () => {
      const warnings = (await publisherOf(service))?.warnings ?? []
      expect(warnings).toMatchObject([{ code }])
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      expect(metrics).toContain(`petstore_warnings{part="publishing",code="${code}"} 1\n`)
      return warnings[0]?.message ?? ''
    },
    { timeout: 60_000, interval: 250 },
  )
}
