#!/usr/bin/env node
import { outliveOutput } from './engine/cli/output.ts'
import { runCommand } from './engine/cli/program.ts'

outliveOutput()
await runCommand(process.argv.slice(2))
