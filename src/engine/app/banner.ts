import { resolve } from 'node:path'
import { exampleOf } from '../definition/body-example.ts'
import type { Definition } from '../definition/definition.ts'
import { withArticle } from '../definition/words.ts'
import { ownCommand, quoted } from '../lib/operating/own-command.ts'
import { exactJson } from '../lib/values/exact-json.ts'
import type { Config } from './config.ts'
import type { RunningService } from './service.ts'

type BannerConfig = Pick<Config, 'dataDir' | 'apiKeysFile' | 'apiKeys' | 'hasConsole' | 'adminPort'>

/** What a newcomer sees in embedded mode: where everything is, and commands that work when pasted. */
export function banner(
  { service, scopes, kinds: [{ home, stream }] }: Definition,
  { url, issuedKey }: Pick<RunningService, 'url' | 'issuedKey'>,
  { dataDir, apiKeysFile, apiKeys, hasConsole, adminPort }: BannerConfig,
): string {
  const { name, title } = service
  const variable = `${name.toUpperCase().replaceAll('-', '_')}_KEY`
  const issueAnother = `$(API_KEYS_FILE=${quoted(resolve(apiKeysFile))} ${ownCommand()} keys issue --name me)`
  const shownBefore = `You were shown your API key when it was issued${apiKeys.length > 0 ? ', or set it in API_KEYS' : ''}.`
  const [origin, key] =
    issuedKey === undefined
      ? [`${shownBefore} This issues another one:`, issueAnother]
      : ['Your API key, shown only once:', issuedKey]
  const first = stream.commands.find(({ creates, body }) => creates === home.collection && body !== undefined)
  const adding =
    first?.body === undefined
      ? ''
      : `
  curl -H "Authorization: Bearer $${variable}" -H 'Content-Type: application/json' \\
    -d ${quoted(exactJson(exampleOf(first.body)))} ${url}${first.path}`
  const all = `ist all ${home.collection}:`
  const steps = first === undefined ? `L${all}` : `Add ${withArticle(home.noun)}, then l${all}`
  const console = hasConsole && adminPort === undefined ? `\n  Console:        ${url}/console` : ''
  return `
  ${title} is open: ${url}
  Documentation:  ${url}/docs${console}
  Data:           ${resolve(dataDir)}
  Scopes of keys: ${scopes.join(', ')}

  ${origin}

  export ${variable}=${key}

  ${steps}
${adding}
  curl -H "Authorization: Bearer $${variable}" ${url}${home.path}

`
}
