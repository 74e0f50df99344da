import { library } from '../../examples/loans/library.ts'
import { define } from '../../src/engine/definition/definition.ts'
import { serviceContract } from '../engine/http/service.contract.ts'

serviceContract(define(library.service))
