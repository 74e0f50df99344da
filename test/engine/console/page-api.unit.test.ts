import { afterAll, afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'

/** What the pages ask by, as the browser has it. */
interface Api {
  ask(path: string, request?: { method: string }): Promise<unknown>
  signIn(key: string, signedOut: () => void): void
  signOut(): void
}

vi.stubGlobal('location', new URL('http://127.0.0.1:3000/console'))
const { ask, signIn, signOut }: Api = await import(
  new URL('../../../src/engine/console/page/api.js', import.meta.url).href
)
const sent = vi.fn<typeof fetch>()

beforeEach(() => {
  vi.stubGlobal('fetch', sent)
  signIn('key', () => {})
})
afterEach(() => {
  signOut()
  sent.mockReset()
})
afterAll(() => void vi.unstubAllGlobals())

/** What the request behind these answers is sent with. */
async function headersBehind(...answers: Response[]): Promise<Headers> {
  for (const answer of [...answers, new Response()]) sent.mockResolvedValueOnce(answer)
  for (const _ of answers) await ask('v1/seats').catch(() => {})
  await ask('v1/seats')
  return new Headers(sent.mock.lastCall?.[1]?.headers)
}

const withToken = (token: string) => new Response('', { headers: { 'consistency-token': token } })

it('passes on the last token, and waits for it: whoever adds something sees it', async () => {
  const headers = await headersBehind(withToken('one'), withToken('two'), new Response())
  expect([headers.get('consistency-token'), headers.get('prefer')]).toEqual(['two', 'wait=10'])
})

it('keeps what it saw meanwhile, when an answer overtakes an earlier one', async () => {
  const slow = Promise.withResolvers<Response>()
  sent.mockReturnValueOnce(slow.promise)
  const earlier = ask('v1/seats')
  await headersBehind(withToken('changed'))
  slow.resolve(withToken('older'))
  await earlier
  expect((await headersBehind()).get('consistency-token')).toBe('changed, older')
  expect((await headersBehind(withToken('both'))).get('consistency-token')).toBe('both')
})

it('forgets a token of another log', async () => {
  const refused = Response.json({ code: 'invalid_consistency_token', message: 'No.' }, { status: 400 })
  expect((await headersBehind(withToken('one'), refused)).has('consistency-token')).toBe(false)
})

it('forgets the token with the key', async () => {
  await headersBehind(withToken('one'))
  signOut()
  expect((await headersBehind()).has('consistency-token')).toBe(false)
})

it('says of a limit of the key when it may send more, and sends reads then, or in a minute; and writes meanwhile', async () => {
  const time = vi.spyOn(Date, 'now').mockReturnValue(0)
  onTestFinished(() => time.mockRestore())
  const limited = (seconds: number) =>
    Response.json(
      { code: 'too_many_requests', message: 'No more.' },
      { status: 429, headers: { 'retry-after': `${seconds}` } },
    )
  const saying = (message: string) => expect.objectContaining({ status: 429, code: 'too_many_requests', message })
  sent.mockResolvedValueOnce(limited(30)).mockResolvedValueOnce(new Response()).mockResolvedValueOnce(limited(3600))
  await expect(ask('v1/seats')).rejects.toEqual(saying('No more. It may send more in 30 s.'))
  time.mockReturnValue(19_500)
  await expect(ask('console/api/status')).rejects.toEqual(saying('No more. It may send more in 11 s.'))
  await ask('v1/seats', { method: 'POST' })
  expect(sent).toHaveBeenCalledTimes(2)
  time.mockReturnValue(30_000)
  await expect(ask('v1/seats')).rejects.toEqual(saying('No more. It may send more in 3600 s.'))
  time.mockReturnValue(89_999)
  await expect(ask('v1/seats')).rejects.toEqual(saying('No more. It may send more in 3541 s.'))
  expect(sent).toHaveBeenCalledTimes(3)
  time.mockReturnValue(90_000)
  await headersBehind()
  expect(sent).toHaveBeenCalledTimes(4)
})
