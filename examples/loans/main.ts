import { library } from './library.ts'

process.env.DATA_DIR ??= './data/library'
await library.start(process.env)
