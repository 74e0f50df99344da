import type { CallFrame } from './cpu-profile.ts'

/** Where code of a part of a request stands; the first that fits counts. What V8 itself does has no file, and its own names. */
const places: readonly (readonly [part: string, url: RegExp])[] = [
  ['auth', /@fastify\/bearer-auth|\/src\/engine\/(?:api-keys\/|http\/guards\/auth)/],
  ['limits, counts, connections', /\/src\/engine\/http\/(?:guards|wire)\//],
  [
    'validation',
    /\/src\/engine\/(?:lib\/values\/|http\/values\/(?:request-values|messages|headers))|\/(?:ajv|typebox)\//,
  ],
  ['route, conditions, headers', /\/src\/engine\/http\//],
  [
    'read or append',
    /\/(?:ioredis|kafkajs)\/|\/src\/engine\/(?:log\/|lib\/fair-queue|read-models\/(?:redis|sqlite)\/)/,
  ],
  ['proof', /\/src\/engine\/read-models\//],
  ['command and rule', /\/src\/engine\/(?:commands|definition|rule|lib)\/|\/src\/store\/|\/projections\//],
  ['project and publish', /\/src\/engine\/(?:projector|publishing|feed)\//],
  ['Fastify', /\/(?:fastify|find-my-way|avvio|fast-querystring)\//],
  ['hashes', /^node:internal\/crypto/],
  ['promises', /^node:internal\/process\/task_queues/],
  ['HTTP, streams and timers of Node', /^node:/],
]

const natives: Readonly<Record<string, string>> = {
  '(garbage collector)': 'garbage',
  '(program)': 'sockets read, requests parsed',
  writeUtf8String: 'writing',
  writeLatin1String: 'writing',
  writeBuffer: 'writing',
  writev: 'writing',
  runMicrotasks: 'promises',
}
const rest = 'the rest'

/** In the order of a table. */
export const requestParts: readonly string[] = [
  ...new Set(['sockets read, requests parsed', ...places.map(([part]) => part), 'writing', 'garbage', rest]),
]

/** Undefined for what V8 does for a caller, as whose it counts. */
export function partOfRequest({ functionName, url }: CallFrame): string | undefined {
  if (functionName === '(idle)') return functionName
  if (url === '') return functionName === '(root)' ? rest : natives[functionName]
  return places.find(([, form]) => form.test(url))?.[0] ?? rest
}
