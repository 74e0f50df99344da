import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { startRedis } from '../brokers/brokers.ts'
import { describeWithBrokers, describeWithOwnBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { keyed } from '../e2e/client.ts'
import { brokerEnvironment, type Environment, petstore, petstoreOutput, startService } from '../e2e/service.ts'
import { readTopic } from '../e2e/topic.ts'
import { HttpClient, type RequestOptions } from '../lib/http-client.ts'

describeWithBrokers('no secret is told', (brokers) =>
  describeWithOwnBrokers('with a Redis of the test', () => {
    it('in logs at any level, errors, metrics, probes, events and the process list, whatever fails', async () => {
      const password = 'the-password-of-redis'
      const given = 'a-key-that-was-given-in-plain-text'
      const redis = await startRedis()
      onTestFinished(() => redis.remove())
      const environment = brokerEnvironment({ ...brokers, redisUrl: redis.url })
      await askRedis(redis.url, (admin) => admin.config('SET', 'requirepass', password))
      const REDIS_URL = redis.url.replace('redis://', `redis://:${password}@`)
      const own = { ...environment, REDIS_URL, API_KEYS: given, LOG_LEVEL: 'trace', LOG_REQUESTS: 'true' }
      const service = await startService(own)
      const issued = (await petstoreOutput(own, 'keys', 'issue', '--name', 'partner')).trim()
      const said: string[] = []
      const ask = async (path: string, key: string, options: RequestOptions = {}) => {
        const { status, headers, text } = await new HttpClient(service, key).request(path, options)
        said.push(JSON.stringify([...headers]), text)
        return status
      }
      const body = '{"name":"Rex","categoryId":7}'
      await expect.poll(() => ask('/v1/pets', issued), { timeout: 5000 }).toBe(200)
      expect(await ask('/v1/pets', given, { method: 'POST', body, headers: keyed('the-idempotency-key') })).toBe(201)
      const wrong = `${issued}-with-more`
      expect(await ask('/v1/pets', wrong)).toBe(401)
      expect(await ask(`/v1/pets?access_token=x`, given)).toBe(400)
      expect(await ask('/v1/pets/99999', given)).toBe(404)
      const stats = async (changed: Environment = {}) =>
        void said.push(JSON.stringify(await petstore({ ...own, ...changed }, 'stats')))
      await stats({ REDIS_URL: REDIS_URL.replace(password, `${password}-of-yesterday`) })
      await redis.pause()
      const sasl = { KAFKA_SASL_MECHANISM: 'scram-sha-256', KAFKA_SASL_USERNAME: 'petstore' }
      const asked = Promise.all([stats(), stats({ ...sasl, KAFKA_SASL_PASSWORD: password })])
      await expect.poll(() => ask('/v1/pets', given), { timeout: 30_000 }).toBe(503)
      for (const path of ['/livez', '/readyz', '/metrics']) await ask(path, given)
      await asked
      await redis.resume()
      await expect.poll(() => ask('/v1/pets', given), { timeout: 30_000 }).toBe(200)
      const events = (await readTopic(own)).map(({ value }) => String(value))
      said.push(...events, readFileSync(`/proc/${service.pid}/cmdline`, 'utf8'))
      await service.end('SIGTERM')
      said.push(service.output())
      const everything = said.join('\n')
      // What is looked into has what it should have.
      for (const part of [
        'invalid_token',
        'petstore_',
        'PetCreated',
        '"level":10',
        'keyId',
        'refuses the connection',
      ]) {
        expect([part, everything.includes(part)]).toEqual([part, true])
      }
      for (const secret of [password, given, issued, 'the-idempotency-key']) {
        const at = everything.indexOf(secret)
        expect({ secret, found: at < 0 ? undefined : everything.slice(Math.max(0, at - 200), at + 100) }).toEqual({
          secret,
        })
      }
    })
  }),
)
