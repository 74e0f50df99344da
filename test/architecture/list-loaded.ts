import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/** Loaded by `node --import`: at its end the process writes what it has loaded to the file LOADED, a name on each line. */
const urls = new Set<string>()
registerHooks({
  load(url, context, next) {
    urls.add(url)
    return next(url, context)
  },
})
process.on('exit', () => {
  // What Node is made of has no URL that a hook sees.
  const { moduleLoadList } = process as unknown as { moduleLoadList: readonly string[] }
  writeFileSync(process.env.LOADED ?? '', [...urls, ...moduleLoadList].join('\n'))
})
