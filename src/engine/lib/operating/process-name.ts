import { hostname } from 'node:os'

/** What this process is called among several. */
export const processName = `${hostname()}/${process.pid}`
