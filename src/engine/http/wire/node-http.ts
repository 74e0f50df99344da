import type { IncomingMessage as NodeRequest, ServerResponse as NodeResponse } from 'node:http'

/** Not imported: an import takes every export of `node:http` at once, and with `WebSocket` among them loads an HTTP client. */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http')
export type IncomingMessage = NodeRequest
export type ServerResponse<Request extends NodeRequest = NodeRequest> = NodeResponse<Request>
