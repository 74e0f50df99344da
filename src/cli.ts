#!/usr/bin/env node
import { runCommand } from './cli/program.ts'

for (const stream of [process.stdout, process.stderr]) {
  // Whoever reads has seen enough, as `head` has after some lines.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

await runCommand(process.argv.slice(2))
