import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Damages or restores a record in the file of a broker that runs. `folder` is that of the broker. */
export function replaceInSegment(folder: string, partition: string, text: string, other: string): void {
  const file = join(folder, 'data', partition, '00000000000000000000.log')
  const at = readFileSync(file).indexOf(text)
  if (at < 0) throw new Error(`there is no ${text} in ${file}`)
  const opened = openSync(file, 'r+')
  writeSync(opened, other, at)
  closeSync(opened)
}
