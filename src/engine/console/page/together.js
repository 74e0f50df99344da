/** @import { DocumentFilter } from '../answers.ts' */

/**
 * With which of those chosen a filter does not go together.
 * @param {readonly DocumentFilter[]} filters
 * @param {readonly string[]} chosen
 * @param {string} name
 */
export function refusing(filters, chosen, name) {
  if (chosen.includes(name) || goTogether(filters, [...chosen, name])) return []
  return chosen.filter((each) => !goTogether(filters, [each, name]))
}

/**
 * Any filter stands alone; several are one of any value, and enumerations beside it.
 * @param {readonly DocumentFilter[]} filters
 * @param {readonly string[]} names
 */
function goTogether(filters, names) {
  if (names.length < 2) return true
  return filters.some(
    ({ name, beside }) => names.includes(name) && names.every((each) => each === name || beside.includes(each)),
  )
}
