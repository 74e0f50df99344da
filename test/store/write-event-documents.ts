import { writeFileSync } from 'node:fs'
import { eventDocuments } from './event-documents.ts'

const docs = new URL('../../docs/', import.meta.url)
for (const [path, text] of eventDocuments) writeFileSync(new URL(path, docs), text)
