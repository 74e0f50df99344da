import { join } from 'node:path'
import { expect, it } from 'vitest'
import { issueKey } from '../../src/api-keys/api-keys.ts'
import { checkUp } from '../../src/app/checkup.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

it('the doctor warns when no key is valid, also if there are expired ones', async () => {
  const folder = temporaryFolder()
  const keys = async () => (await checkUp({ DATA_DIR: folder })).find(({ what }) => what === 'API keys')
  const warning = { state: 'warning', detail: expect.stringContaining('keys issue --name NAME') }
  expect(await keys()).toMatchObject(warning)
  const now = new Date()
  issueKey(join(folder, 'api-keys.json'), { name: 'past', expiresAt: new Date(now.getTime() - 1) }, now)
  expect(await keys()).toMatchObject(warning)
  issueKey(join(folder, 'api-keys.json'), { name: 'present' }, now)
  expect(await keys()).toMatchObject({ state: 'ok', detail: '1' })
})
