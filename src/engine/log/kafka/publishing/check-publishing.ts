import { type Finding, failed, ok, warning } from '../../../lib/operating/finding.ts'
import { RightMissing, StandsStill } from '../../published-log.ts'
import type { KafkaAccess } from '../kafka-access.ts'
import { asAdmin } from '../kafka-boot.ts'
import { KafkaClient } from '../kafka-client.ts'
import { KafkaReader } from '../kafka-reader.ts'
import { lookAtTopics, toldTopics, tryToMakeTopics } from './publishing-topics.ts'
import { type AskedBy, askForRights, asRefusal } from './rights.ts'

type PublishingToCheck = KafkaAccess & AskedBy

const limitMs = 5000

/** Looks at what is published, and at the rights to do it; changes nothing. */
export async function checkPublishing(options: PublishingToCheck): Promise<readonly Finding[]> {
  const what = `topic ${toldTopics(options).join(', ')}`
  const reader = new KafkaReader(() => new KafkaClient(options))
  try {
    const found = await checkTopics(options, what)
    if (found.length > 0) await askForRights(reader, options)
    return found
  } catch (error) {
    if (error instanceof RightMissing) return [warning(what, `For processes that project: ${error.message}`)]
    return [error instanceof StandsStill ? warning(what, error.message) : failed(what, error)]
  } finally {
    reader.close()
  }
}

/** Nothing where there is no journal yet. */
async function checkTopics(options: PublishingToCheck, what: string): Promise<readonly Finding[]> {
  const { topic, brokers } = options
  const look = asAdmin(new KafkaClient(options), limitMs, async (admin) => {
    if (!(await admin.listTopics()).includes(topic)) return { missing: [] }
    const found = await lookAtTopics(admin, options, brokers.join(','))
    if ('missing' in found) await tryToMakeTopics(admin, options)
    return found
  })
  const found = await look.catch(asRefusal(options))
  if ('missing' in found) {
    return found.missing.map((name) => ok(`topic ${name}`, 'is not there yet: the first process to publish makes it'))
  }
  if (found.warnings.length > 0) return found.warnings.map(({ message }) => warning(what, message))
  return [ok(what, `is kept as it should be, and told in ${found.lanes} lanes`)]
}
