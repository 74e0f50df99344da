import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
const { dependencies, devDependencies } = read('package.json')
const lock = read('package-lock.json') as { packages: Record<string, Locked> }
const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

/** Licences that require only attribution. For tools, also one that covers only its own files. */
const licences = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
  'Zlib',
]
const licencesOfTools = [...licences, 'CC0-1.0', 'MPL-2.0', 'Python-2.0']
/** They say it in a file, and not in their package.json. */
const licencesInFiles: Readonly<Record<string, string>> = {
  'node_modules/buildcheck': 'MIT',
  'node_modules/cpu-features': 'MIT',
  'node_modules/ssh2': 'MIT',
}

describe('what npm ci installs', () => {
  it('is named by exact versions', () => {
    const client = read('examples/client/package.json')
    const all = { ...dependencies, ...devDependencies, ...client.dependencies, ...client.devDependencies }
    for (const [name, version] of Object.entries(all)) {
      expect([name, version]).toEqual([
        name,
        expect.stringMatching(/^(\d+\.\d+\.\d+|file:\.ci\/node|file:examples\/client)$/),
      ])
    }
  })

  it('is held to a hash each, the Node of the scripts included', () => {
    for (const [path, { integrity }] of installed)
      expect([path, integrity]).toEqual([path, expect.stringMatching(/^sha512-/)])
    const node = read('.ci/node/package.json')
    for (const [name, version] of Object.entries(node.optionalDependencies)) {
      expect(lock.packages[`node_modules/${name}`]).toMatchObject({ version, integrity: expect.any(String), dev: true })
      expect(version).toBe(node.version)
    }
    expect(readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')).toContain(`node:${node.version}-`)
  })

  it('runs the tests on that Node, whatever the version of npm', () => {
    expect(process.versions.node).toBe(read('.ci/node/package.json').version)
  })

  it('runs no script of its own, whatever the version of npm, and needs none', () => {
    const npmrc = readFileSync(new URL('../../.npmrc', import.meta.url), 'utf8')
    expect(npmrc.split('\n')).toContain('ignore-scripts=true')
    const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript)
    expect(scripted.every(([, { dev }]) => dev)).toBe(true)
  })

  it('may be used and passed on', () => {
    for (const [path, { license, dev }] of installed) {
      const named = (license ?? licencesInFiles[path] ?? 'none').replace(/[()]/g, '').split(/ (?:OR|AND) /)
      const allowed = dev ? licencesOfTools : licences
      expect({ path, named, dev, isAllowed: named.every((each) => allowed.includes(each)) }).toMatchObject({
        isAllowed: true,
      })
    }
  })
})
