import { writeFileSync } from 'node:fs'
import { openApp } from '../engine/http/fake-services.ts'
import { fakeStore } from './fake-store.ts'

/** Writes docs/openapi.json, the copy of what the service serves. */
const app = await openApp(fakeStore())
const document = (await app.inject('/openapi.json')).json()
await app.close()
writeFileSync(new URL('../../docs/openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
