import type { ServiceName } from './history.ts'
import { library } from './library/library.ts'
import { petstore } from './petstore.ts'
import type { JudgedService } from './service.ts'

export const services: Readonly<Record<ServiceName, JudgedService>> = { petstore, library }
