import { writeFileSync } from 'node:fs'
import { storeErrors } from '../../src/store/errors.ts'
import { errorsReference } from './errors-reference.ts'

writeFileSync(new URL('../../docs/errors.md', import.meta.url), errorsReference(storeErrors))
