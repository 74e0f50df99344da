/** What goes on, for whoever waits: standard output is for the figures alone. */
export function say(what: string): void {
  process.stderr.write(`bench: ${what}\n`)
}
