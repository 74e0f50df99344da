import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client } from '../e2e/client.ts'
import { publishedOf } from '../e2e/published-topic.ts'
import { brokerEnvironment, startCommand, startService } from '../e2e/service.ts'
import { readTopic } from '../e2e/topic.ts'

const readme = readFileSync(new URL('../../examples/README.md', import.meta.url), 'utf8')
/** As the page gives them. */
const commands = [...readme.matchAll(/^kcat -.*$/gm)].map(([command]) => command)
const hasKcat = spawnSync('kcat', ['-V']).status === 0
const patience = { timeout: 60_000, interval: 50 }

describeWithBrokers('the kcat commands of examples/README.md', (brokers) => {
  if (!hasKcat && !process.env.CI) return it.skip('need kcat: apt-get install kcat')

  it('print what they say', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const pets = [await client.create('Rex'), await client.create('Ada')]
    const [{ id = 0 } = {}] = pets
    await client.order(id)
    const { DATA_DIR, KAFKA_BROKERS, KAFKA_TOPIC } = environment
    const KCAT_CONFIG = join(DATA_DIR, 'kcat.conf')
    writeFileSync(KCAT_CONFIG, `bootstrap.servers=${KAFKA_BROKERS}\n`)
    function run(command = '') {
      const here = command.replace('petstore.pets', KAFKA_TOPIC).replace("'^1 '", `'^${id} '`)
      return startCommand(['bash', '-c', here], { KCAT_CONFIG })
    }
    async function linesOf(command = ''): Promise<string[]> {
      const { ended, output, errors } = run(command)
      expect(await ended, errors()).toBe(0)
      return output().trimEnd().split('\n')
    }
    expect(commands).toHaveLength(4)
    const [all, follow, ofPet, types] = commands

    const published = await vi.waitFor(async () => {
      const records = await readTopic(publishedOf(environment))
      expect(records).toHaveLength(3)
      return records
    }, patience)
    const events = published.map(({ key, offset, value }) => `/${offset} ${key} ${value}`)
    expect((await linesOf(all)).map((line) => line.replace(/^\d+/, '')).sort()).toEqual(events.sort())
    const history = [expect.stringMatching(`^${id} .*PetCreated`), expect.stringMatching(`^${id} .*OrderPlaced`)]
    expect(await linesOf(ofPet)).toEqual(history)
    const counts = ['1 "type":"petstore.OrderPlaced.v1"', '2 "type":"petstore.PetCreated.v1"']
    expect((await linesOf(types)).map((line) => line.trim())).toEqual(counts)

    const headers = await linesOf(`kcat -C -e -q -t ${KAFKA_TOPIC}.published -f '%h\\n'`)
    expect(new Set(headers)).toEqual(new Set(['content-type=application/cloudevents+json']))

    const following = run(`exec ${follow}`)
    await vi.waitFor(async () => {
      const { name } = await client.create('seen at once')
      expect(following.output(), following.errors()).toContain(name)
    }, patience)
    expect(following.output()).not.toContain('Rex')
  })
})
