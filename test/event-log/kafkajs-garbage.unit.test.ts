import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('keepArraysYoung sets an option that this version of Node has', async () => {
  const module = new URL('../../src/event-log/kafka/kafkajs-garbage.ts', import.meta.url)
  const script = `import { keepArraysYoung } from '${module}'; keepArraysYoung(); process.stdout.write('set')`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect({ stdout, stderr }).toEqual({ stdout: 'set', stderr: '' })
})
