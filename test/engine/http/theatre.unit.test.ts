import { theatre } from '../theatre/theatre.ts'
import { serviceContract } from './service.contract.ts'

serviceContract(theatre)
