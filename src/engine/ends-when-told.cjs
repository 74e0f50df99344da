// Loaded before anything else: process 1 of a container ignores a signal that nobody listens to. Until a service listens itself,
// nothing has been acknowledged, and there is nothing to close.
const { constants } = require('node:os')

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
  })
