import { resolve } from 'node:path'
import type { Config } from './config.ts'
import type { Service } from './service.ts'

/** What a newcomer sees in embedded mode: where everything is, and commands that work when pasted. */
export function banner(
  { url, issuedKey }: Pick<Service, 'url' | 'issuedKey'>,
  { dataDir, apiKeysFile, apiKeys }: Pick<Config, 'dataDir' | 'apiKeysFile' | 'apiKeys'>,
): string {
  const issueAnother = `$(API_KEYS_FILE=${quoted(apiKeysFile)} npm run --silent petstore -- keys issue --name me)`
  const shownBefore = `You were shown your API key when it was issued${apiKeys.length > 0 ? ', or set it in API_KEYS' : ''}.`
  const [origin, key] =
    issuedKey === undefined
      ? [`${shownBefore} This issues another one:`, issueAnother]
      : ['Your API key, shown only once:', issuedKey]
  return `
  The pet store is open: ${url}
  Documentation:         ${url}/docs
  Data:                  ${resolve(dataDir)}

  ${origin}

  export PETSTORE_KEY=${key}

  Add a pet, then list all pets:

  curl -H "Authorization: Bearer $PETSTORE_KEY" -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":7}' ${url}/v1/pets
  curl -H "Authorization: Bearer $PETSTORE_KEY" ${url}/v1/pets

`
}

/** As one word for the shell, and as an absolute path, which works in any folder. */
function quoted(path: string): string {
  const whole = resolve(path)
  return /^[\w./-]+$/.test(whole) ? whole : `'${whole.replaceAll("'", "'\\''")}'`
}
