import { writeFileSync } from 'node:fs'
import { openApp, TestServices } from '../engine/http/test-services.ts'
import { petstore } from './petstore.ts'

/** Writes docs/openapi.json, the copy of what the service serves. */
const app = await openApp(new TestServices(petstore))
const document = (await app.inject('/openapi.json')).json()
await app.close()
writeFileSync(new URL('../../docs/openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
