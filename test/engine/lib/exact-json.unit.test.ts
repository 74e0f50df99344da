import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { exactInteger, parseExactJson } from '../../../src/engine/lib/values/exact-json.ts'
import { anyCharacter } from '../../lib/any-character.ts'

/** Every form of a JSON number (RFC 8259 section 6), with zeros at the end of fractions. */
const numberText = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.(\d{0,24})0)?([eE][+-]?\d{1,2})?$/)

/** The value of a number's text as a fraction, in integers only. */
function asFraction(text: string): { over: bigint; under: bigint } {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const over = BigInt(whole.replace('-', '') + fraction) * (text.startsWith('-') ? -1n : 1n)
  const scale = Number(power) - fraction.length
  return scale >= 0 ? { over: over * 10n ** BigInt(scale), under: 1n } : { over, under: 10n ** BigInt(-scale) }
}

function expected(text: string): number | bigint {
  const { over, under } = asFraction(text)
  if (over % under !== 0n) return Number.isInteger(Number(text)) ? Number.NaN : Number(text)
  const integer = over / under
  const largest = 2n ** 53n - 1n
  return integer <= largest && integer >= -largest ? Number(integer) : integer
}

/** Negative zero is zero: no schema and no text that is written tells them apart. */
const unsigned = (value: unknown) => (value === 0 ? 0 : value)

describe('parseExactJson', () => {
  it('gives a number exactly the value of its text, at any place', () => {
    fc.assert(
      fc.property(numberText, (text) => {
        const value = expected(text)
        expect(unsigned(parseExactJson(text))).toEqual(value)
        const around = parseExactJson(`{"a":${text},"b" : ${text} ,"c":[${text},[ ${text}\n]]}`) as object
        const found: unknown[] = Object.values(around).flat(2)
        expect(found.map(unsigned)).toEqual([value, value, value, value])
      }),
      { numRuns: 2000 },
    )
  })

  it('gives every other value as JSON.parse does', () => {
    const json = fc.jsonValue({ stringUnit: anyCharacter }).map((value) => JSON.stringify(value))
    const withoutNumbers = (_key: string, value: unknown) => (typeof value === 'number' ? 0 : value)
    fc.assert(
      fc.property(json, fc.constantFrom('', ',"long":1234567890123456789'), (text, long) => {
        const whole = `{"value":${text}${long}}`
        const { value } = parseExactJson(whole) as { value: unknown }
        expect(JSON.parse(JSON.stringify(value, plain), withoutNumbers)).toEqual(JSON.parse(text, withoutNumbers))
      }),
    )
  })

  it.each(['', '{', '01', '1.', '.5', '+1', '1e', 'NaN', '0x10', '{"a":1,}', '[1e3'])('refuses %j', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError)
  })

  it('refuses what JSON.parse refuses, and nothing else', () => {
    const tokens = [
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '1',
      '0',
      '01',
      '-',
      '.',
      'e',
      '+',
      'x',
      ' ',
      '\n',
      'null',
    ]
    const long = ['1e5', '-1.5E+3', '12345678901234567', '01e5', '1.e5', '1e', '--1e5', '"1e5"', '"\\"1e5"', '"\\\\"']
    const text = fc.array(fc.constantFrom(...tokens, ...long, ...long), { maxLength: 9 }).map((parts) => parts.join(''))
    const isRefused = (read: () => unknown) => {
      try {
        read()
        return false
      } catch (error) {
        return error instanceof SyntaxError
      }
    }
    const whole = fc.oneof(
      text,
      text.map((part) => `[1e5,${part}]`),
      text.map((part) => `{"a":1e5,"b":${part}}`),
    )
    fc.assert(
      fc.property(whole, (each) => {
        expect(isRefused(() => parseExactJson(each))).toBe(isRefused(() => JSON.parse(each)))
      }),
      { numRuns: 5000 },
    )
  })

  it('refuses what is nested too deeply around a long number, wherever it is called', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}1e1${']'.repeat(depth)}`
    expect(() => parseExactJson(nested(2500))).not.toThrow()
    expect(() => parseExactJson(nested(2501))).toThrow(RangeError)
  })

  it.each(['1e399', '1e401', '0.1e400', '9.9e-9', '9007199254740993', '0e9999'])(
    'converts no more digits than a text with many %s has',
    (number) => {
      const { BigInt: convert } = globalThis
      let digits = 0
      vi.stubGlobal('BigInt', (value: string | number) => {
        digits += String(value).length
        return convert(value)
      })
      const text = JSON.stringify(Array(1000).fill(0)).replaceAll('0', number)
      parseExactJson(text)
      vi.unstubAllGlobals()
      expect(digits).toBeLessThanOrEqual(text.length)
    },
  )

  it('leaves text that looks like numbers alone', () => {
    const strings = [
      '1e-400',
      ' 1e-400',
      '12345678901234567890',
      ':1e5',
      'deadbeef0123456789',
      '",1e5,',
      '\\',
      '\\"[1e5',
    ]
    expect(parseExactJson(JSON.stringify(strings))).toEqual(strings)
    expect(parseExactJson(JSON.stringify({ '1e5': strings, '",1e5': '' }))).toEqual({ '1e5': strings, '",1e5': '' })
  })

  it('keeps __proto__ a field like any other', () => {
    for (const number of ['1', '12345678901234567890']) {
      const value = parseExactJson(`{"__proto__":{"polluted":${number}}}`) as object
      expect(Object.keys(value)).toEqual(['__proto__'])
      expect(value).not.toHaveProperty('polluted')
    }
  })
})

describe('exactInteger of very small, very large and very long numbers', () => {
  it.each([
    ['1e-400', undefined],
    ['0e-400', 0n],
    ['0e9999', 0n],
    ['1e400', 10n ** 400n],
    ['1e401', undefined],
    ['1e99999', undefined],
    [`1.${'0'.repeat(398)}`, 1n],
    [`1.${'0'.repeat(399)}`, undefined],
  ])('%.30s is %s', (text, value) => expect(exactInteger(text)).toBe(value))
})

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? 0 : value
}
