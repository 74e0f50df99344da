import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import type { ErrorCode } from '../../src/lib/errors.ts'

/** The status and the exact shape of an error answer; `message` is a part of it. */
export function expectError(
  { statusCode, headers, body }: Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'body'>,
  status: number,
  code: ErrorCode,
  message = '',
): void {
  expect({ statusCode, body: JSON.parse(body) }).toEqual({
    statusCode: status,
    body: { code, message: expect.stringContaining(message), status },
  })
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers['x-content-type-options']).toBe('nosniff')
  expect(headers['cache-control']).toBe('no-store')
}
