import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('a process encodes its records itself, and sets an option that this version of Node has', async () => {
  const folder = new URL('../../../../src/engine/log/kafka', import.meta.url)
  const script = `
    import { moduleOfKafkajs } from '${folder}/kafkajs-modules.ts'
    import { tuneProcess } from '${folder}/process-tuning.ts'
    tuneProcess({ consumes: true })
    process.stdout.write(moduleOfKafkajs('protocol/recordBatch/record/v0').name)`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect({ stdout, stderr }).toEqual({ stdout: 'encodeRecord', stderr: '' })
})
