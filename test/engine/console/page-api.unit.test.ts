import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest'

/** What the pages ask by, as the browser has it. */
interface Api {
  ask(path: string): Promise<unknown>
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
