import fc from 'fast-check'

/** All but lone surrogates, as fast-check's `binary`, which takes each test file half a second or more to make. */
export const anyCharacter = fc
  .oneof(fc.nat(0x7f), fc.integer({ min: 0x80, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
