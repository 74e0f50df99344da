import { writeFileSync } from 'node:fs'
import { petstore } from '../store/petstore.ts'
import { errorsReference } from './errors-reference.ts'

writeFileSync(new URL('../../docs/errors.md', import.meta.url), errorsReference(petstore.errors))
