#!/usr/bin/env node
import { outliveOutput } from './cli/output.ts'
import { runCommand } from './cli/program.ts'

outliveOutput()
await runCommand(process.argv.slice(2))
