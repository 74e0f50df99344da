import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Starts a service that answers as the one at `url`, with one member more in each object. Resolves to its address. */
export async function startLaterRelease(url: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { authorization, 'content-type': contentType } = request.headers
    const headers = Object.entries({ authorization, 'content-type': contentType })
    const body = await buffer(request)
    const answer = await fetch(url + request.url, {
      method: request.method ?? 'GET',
      headers: headers.filter((header): header is [string, string] => header[1] !== undefined),
      body: body.length === 0 ? null : body,
    })
    const text = await answer.text()
    for (const [name, value] of answer.headers) if (name !== 'content-length') response.setHeader(name, value)
    // As text, so that no number is rounded. A quote within a string would have a backslash before it.
    response.writeHead(answer.status).end(text.replaceAll('{"', '{"addedLater":{"is":"new"},"'))
  })
  server.listen(0, '127.0.0.1').unref()
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
