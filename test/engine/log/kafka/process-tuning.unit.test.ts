import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('a process is tuned by a patch that kafkajs and an option that this version of Node have', async () => {
  const module = new URL('../../../../src/engine/log/kafka/process-tuning.ts', import.meta.url)
  const script = `import { tuneProcess } from '${module}'; tuneProcess({ consumes: true }); process.stdout.write('set')`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect({ stdout, stderr }).toEqual({ stdout: 'set', stderr: '' })
})
