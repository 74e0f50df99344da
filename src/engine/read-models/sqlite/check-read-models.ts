import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Finding, failed, ok, warning } from '../../lib/operating/finding.ts'
import { isDamage, setAsideName } from './damaged-file.ts'
import { tablesMissing } from './sqlite-tables.ts'

const remedy =
  'the service sets it aside, and builds it again, once it meets the damage. To have that at once, stop the service and ' +
  'remove the file. Look at its disk'

/** Reads every page of the file, and changes nothing. */
export function checkReadModels(file: string): Finding[] {
  const what = 'read models'
  const kept = setAsideName(file)
  const keptFinding = warning(what, `A damaged file was set aside as ${kept}: look at its disk, then remove it.`)
  return [checkFile(what, file), ...(existsSync(kept) ? [keptFinding] : [])]
}

function checkFile(what: string, file: string): Finding {
  if (!existsSync(file)) return ok(what, 'are not there yet: the service builds them from the log')
  try {
    const damage = damageIn(file)
    return damage === undefined ? ok(what, 'can be read') : failed(what, `${file} is damaged (${damage}): ${remedy}.`)
  } catch (error) {
    return failed(what, error)
  }
}

/** Undefined if there is none. Throws where the file cannot be read for another reason. */
function damageIn(file: string): string | undefined {
  using db = new DatabaseSync(file, { timeout: 500 })
  try {
    const found = Object.values(db.prepare('PRAGMA quick_check(1)').get() ?? {}).join()
    if (found !== 'ok') return found
    const [missing] = tablesMissing(db)
    return missing && `its table ${missing} is gone`
  } catch (error) {
    if (!isDamage(error)) throw error
    return (error as Error).message
  }
}
