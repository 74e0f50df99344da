import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka } from '../brokers/processes.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { eventually, records } from './contract/fixture.ts'
import { logOptions, openKafkaLog } from './kafka-fixture.ts'
import { RecordingSubscriber } from './recording-subscriber.ts'

describeWithLocalBrokers('a batch damaged on the disk of a broker', () => {
  it('is refused while damaged, and read once it is restored', async () => {
    const folder = temporaryFolder()
    const kafka = await startKafka({}, { folder })
    onTestFinished(() => kafka.remove())
    const options = logOptions(kafka.brokers, { undecodableDelayMs: 200 })
    const log = await openKafkaLog(options)
    for (const value of ['before', 'the pet', 'behind']) await log.append(0, records(value))
    await log.append(1, records('elsewhere'))
    const segment = join(folder, 'data', `${options.topic}-0`, '00000000000000000000.log')

    replaceIn(segment, 'the pet', 'the cat')
    const subscriber = await RecordingSubscriber.on(log)
    const undecodable = { partition: 0, offset: 1, reason: 'its checksum does not match its content' }
    await eventually(() => log.undecodable, [undecodable])
    await eventually(() => subscriber.values(1), ['elsewhere'])
    expect(subscriber.values(0)).toEqual(['before'])

    replaceIn(segment, 'the cat', 'the pet')
    await eventually(() => subscriber.values(0), ['before', 'the pet', 'behind'])
    expect(log.undecodable).toEqual([])
  })
})

/** In the file, while others use it. */
function replaceIn(file: string, text: string, other: string): void {
  const at = readFileSync(file).indexOf(text)
  expect(at, `${text} in ${file}`).toBeGreaterThan(0)
  const opened = openSync(file, 'r+')
  writeSync(opened, other, at)
  closeSync(opened)
}
