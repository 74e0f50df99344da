import { library } from './library.ts'

process.env.DATA_DIR ??= './data/library'
await library.run(process.argv.slice(2))
