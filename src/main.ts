import { store } from './store/service.ts'

await store.run(process.argv.slice(2))
