import { writeFileSync } from 'node:fs'
import { errorsReference } from './errors-reference.ts'
import { petstore } from './petstore.ts'

writeFileSync(new URL('../../docs/errors.md', import.meta.url), errorsReference(petstore.errors))
