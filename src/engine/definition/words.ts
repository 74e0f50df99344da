/** The words of a service within sentences of the engine. */

export function withArticle(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

export function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** `a`, `a or b`, `a, b or c`. */
export function listed(words: readonly string[], conjunction: 'and' | 'or'): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`
}
