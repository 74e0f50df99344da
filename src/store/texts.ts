import { Type } from 'typebox'

/** What every text is that a client may give; lengths count code points, as JSON Schema says. */
const text = (maxLength: number) => ({
  minLength: 1,
  maxLength,
  pattern: '^\\s*\\S', // from the start, as some clients match there alone
  format: 'well-formed',
})
const ruleOf = (maxLength: number) => `1 to ${maxLength} characters of well-formed Unicode, not only white space`

/** The name of a thing. */
export function nameSchema(example: string) {
  const rule = ruleOf(128)
  return Type.String({ ...text(128), description: rule, 'x-rule': `must be ${rule}`, examples: [example] })
}

/** What else there is to say of a thing: as it is shown, as it is given, and as it is changed, where null removes it. */
export function descriptionSchemas(maxLength: number, said: string, example: string) {
  const rule = ruleOf(maxLength)
  const shown = { ...text(maxLength), description: `${said}: ${rule}`, examples: [example] }
  return {
    shown: Type.String(shown),
    given: Type.String({ ...shown, 'x-rule': `must be ${rule}` }),
    changed: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      ...shown,
      'x-rule': `must be ${rule}; or null, which removes it`,
    }),
  }
}
