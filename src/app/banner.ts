import type { Service } from './service.ts'

/** What a newcomer sees on the embedded default: where everything is, and a command that works when pasted. */
export function banner({ url, issuedKey }: Pick<Service, 'url' | 'issuedKey'>, dataDir: string): string {
  const lines = [
    '',
    `  The pet store is open: ${url}`,
    `  Documentation:         ${url}/docs`,
    `  Data:                  ${dataDir}`,
    '',
    ...(issuedKey === undefined ? knownKey : firstKey(issuedKey)),
    '',
    '  Add a pet, and list those there are:',
    '',
    `  curl -H "Authorization: Bearer $PETSTORE_KEY" -H 'Content-Type: application/json' \\`,
    `    -d '{"name":"Rex","categoryId":7}' ${url}/v1/pets`,
    `  curl -H "Authorization: Bearer $PETSTORE_KEY" ${url}/v1/pets`,
    '',
  ]
  return `${lines.join('\n')}\n`
}

const knownKey = [
  '  Your API key, or a new one:',
  '',
  '  export PETSTORE_KEY=$(npm run --silent petstore -- keys issue --name me)',
]

function firstKey(key: string): readonly string[] {
  return ['  Your API key, shown this once:', '', `  export PETSTORE_KEY=${key}`]
}
