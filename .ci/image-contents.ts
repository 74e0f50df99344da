// Run inside the image, in /app: the bill of materials lists what is installed there, and nothing of it is for development.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'

interface Component {
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly hashes?: readonly unknown[]
  readonly licenses?: readonly unknown[]
}
interface Bill {
  readonly bomFormat: string
  readonly metadata: { readonly component: Component }
  readonly components: readonly Component[]
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const { bomFormat, metadata, components }: Bill = read('sbom.json')
const { name, version, devDependencies } = read('package.json')
assert.equal(bomFormat, 'CycloneDX')
assert.equal(`${metadata.component.name}@${metadata.component.version}`, `${name}@${version}`)
assert.equal(devDependencies, undefined)

const listed = components.map((component) => `${component.name}@${component.version}`)
const installed = globSync('node_modules/**/package.json')
  .filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))
  .map(read)
  .map((manifest) => `${manifest.name}@${manifest.version}`)
assert.deepEqual([...new Set(listed)].sort(), [...new Set(installed)].sort())
for (const { name, purl, hashes, licenses } of components)
  assert.ok(purl && hashes?.length && licenses?.length, `${name} has an address, a hash and a licence`)
const development = Object.keys(JSON.parse(process.env.DEVELOPMENT ?? ''))
assert.ok(development.includes('typescript') && development.includes('vitest'))
for (const each of development) assert.ok(!existsSync(`node_modules/${each}`), `${each} is not in the image`)
process.stdout.write(`${installed.length} packages\n`)
