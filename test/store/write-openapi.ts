import { writeFileSync } from 'node:fs'
import { openApp } from '../engine/http/test-services.ts'
import { storeServices } from './store-services.ts'

/** Writes docs/openapi.json, the copy of what the service serves. */
const app = await openApp(storeServices())
const document = (await app.inject('/openapi.json')).json()
await app.close()
writeFileSync(new URL('../../docs/openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
