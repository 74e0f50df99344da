import { writeFileSync } from 'node:fs'
import { FakeServices, openApp } from '../engine/http/fake-services.ts'

/** Writes docs/openapi.json, the copy of what the service serves. */
const app = await openApp(new FakeServices())
const document = (await app.inject('/openapi.json')).json()
await app.close()
writeFileSync(new URL('../../docs/openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
