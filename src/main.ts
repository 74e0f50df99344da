import { store } from './store/service.ts'

await store.start(process.env)
