import type { IncomingMessage, ServerResponse as NodeResponse } from 'node:http'

/** Not imported: an import takes every export of `node:http` at once, and with `WebSocket` among them loads an HTTP client. */
export const { createServer, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')
export type ServerResponse<Request extends IncomingMessage = IncomingMessage> = NodeResponse<Request>
