import { library } from './library.ts'

process.env.DATA_DIR ??= './data/library'
process.exitCode = await library.command(process.argv.slice(2))
