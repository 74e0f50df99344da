import { describe } from 'vitest'

/** Only Linux tells of a process what some tests look at. */
export const describeOnLinux = describe.runIf(process.platform === 'linux')
