import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Supervised } from './system/supervised.ts'

/** Stands for a process of the service, and answers as the test says. It ends with the test. */
export async function startFakeApi(reply: RequestListener): Promise<Supervised> {
  const server = createServer(reply)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { name: 'api-1', instance: 'api-1#1', url } as Supervised
}
