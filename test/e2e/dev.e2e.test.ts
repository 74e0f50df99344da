import { appendFileSync, cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client } from './client.ts'
import { startService } from './service.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

it('npm run dev starts the service again when a file changes, on the same data', async () => {
  const folder = temporaryFolder()
  for (const name of ['package.json', 'src', 'projections', 'docs']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
  const environment = { PATH, DATA_DIR: join(folder, 'data') }
  const service = await startService(environment, ['sh', '-c', `cd ${folder} && ${scripts.dev}`])
  onTestFinished(async () => void (await service.end('SIGTERM'))) // with the process that it watches
  const pet = await new Client(service).create('Rex')
  appendFileSync(join(folder, 'projections', 'pets.ts'), '// changed\n')
  const addresses = () => [...service.output().matchAll(/is open: (\S+)/g)].map(([, url = '']) => url)
  await vi.waitFor(() => expect(addresses(), service.output()).toHaveLength(2), { timeout: 30_000, interval: 50 })
  const again = new Client({ url: addresses()[1] ?? '' })
  await vi.waitFor(async () => expect((await again.get(pet.id)).body).toEqual(pet), { timeout: 30_000, interval: 50 })
})
