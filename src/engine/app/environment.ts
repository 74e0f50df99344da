import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
import { compileCheck } from '../lib/values/validation.ts'
import { type BrokerNames, brokerVariables } from './storage/broker-settings.ts'
import { ConfigError, integer, optionalText, text } from './variables.ts'

/** Every environment variable that a service reads. A test compares docs/configuration.md with this list. */
export const environmentOf = (names: BrokerNames) =>
  Type.Object({
    ROLE: Type.Enum(['all', 'api', 'projector'], { default: 'all' }),
    HOST: text('127.0.0.1'),
    PORT: integer(3000, [0, 65_535]),
    ADMIN_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
    CONSOLE: Type.Optional(Type.Boolean()),
    CORS_ORIGINS: optionalText(),
    PUBLIC_URL: optionalText(),
    DATA_DIR: text('./data'),
    API_KEYS_FILE: optionalText(),
    API_KEYS: optionalText(),
    LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' }),
    LOG_REQUESTS: Type.Boolean({ default: false }),
    APPEND_TIMEOUT_MS: integer(5000, [1000, 60_000]),
    MAX_CONNECTIONS: integer(2000, [1, 1_000_000]),
    MAX_CONNECTIONS_PER_ADDRESS: integer(1000, [1, 1_000_000]),
    MAX_IN_FLIGHT_PER_KEY: integer(1000, [1, 1_000_000]),
    RATE_LIMIT: optionalText({
      pattern: '^[1-9]\\d{0,8}/[1-9]\\d{0,5}$',
      'x-rule': 'must be requests/seconds, such as 100/60',
    }),
    TRUST_PROXY: optionalText(),
    READ_MODEL_GRACE_SECONDS: integer(3600, [5, 31_536_000]),
    READ_MODEL_SHARDS: integer(1, [1, 64]),
    PROJECTOR_STALL_SECONDS: integer(30, [1, 3600]),
    ...brokerVariables(names),
  })

export type Variables = Static<ReturnType<typeof environmentOf>>

type Variable = TSchema & { readonly type?: string; readonly default?: unknown }

/** Throws ConfigError. An empty variable counts as not set. Only what is set is checked: most starts set little. */
export function readVariables(
  environment: NodeJS.ProcessEnv,
  { properties }: ReturnType<typeof environmentOf>,
): Variables {
  const all = Object.entries<Variable>(properties)
  const defaults = all.flatMap(([name, variable]) => ('default' in variable ? [[name, variable.default]] : []))
  const set = all.filter(([name]) => environment[name])
  const values = set.map(([name, variable]) => [name, parse(environment[name] ?? '', variable)])
  const check = compileCheck(Type.Object(Object.fromEntries(set)))
  const problem = set.length === 0 ? undefined : check(Object.fromEntries(values))
  if (problem !== undefined) throw new ConfigError(problem)
  return Object.fromEntries([...defaults, ...values])
}

/** Leaves text that is not of the expected type as it is; the check then refuses it. */
function parse(text: string, { type }: Variable): unknown {
  if (type === 'integer' && /^\d{1,15}$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}
