import { expect, it, onTestFinished } from 'vitest'
import { describeWithLocalBrokers } from '../../../brokers/describe.ts'
import { startKafka } from '../../../brokers/processes.ts'
import { replaceInSegment } from '../../../brokers/segments.ts'
import { temporaryFolder } from '../../../lib/temporary-folder.ts'
import { eventually, records } from '../contract/fixture.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { logOptions, openKafkaLog } from './kafka-fixture.ts'

describeWithLocalBrokers('a batch damaged on the disk of a broker', () => {
  it('is refused while damaged, and read once it is restored', async () => {
    const folder = temporaryFolder()
    const kafka = await startKafka({}, { folder })
    onTestFinished(() => kafka.remove())
    const options = logOptions(kafka.brokers, { undecodableDelayMs: 200 })
    const log = await openKafkaLog(options)
    for (const value of ['before', 'the seat', 'behind']) await log.append(0, records(value))
    await log.append(1, records('elsewhere'))
    const replace = (text: string, other: string) => replaceInSegment(folder, `${options.topic}-0`, text, other)

    replace('the seat', 'the cat')
    const subscriber = await RecordingSubscriber.on(log)
    const undecodable = { partition: 0, offset: 1, reason: 'its checksum does not match its content' }
    await eventually(() => log.undecodable, [undecodable])
    await eventually(() => subscriber.values(1), ['elsewhere'])
    expect(subscriber.values(0)).toEqual(['before'])

    replace('the cat', 'the seat')
    await eventually(() => subscriber.values(0), ['before', 'the seat', 'behind'])
    expect(log.undecodable).toEqual([])
  })
})
