import { serviceContract } from '../engine/http/service.contract.ts'
import { petstore } from './petstore.ts'

serviceContract(petstore)
