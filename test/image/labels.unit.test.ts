import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

it('the labels of the image say what package.json says', () => {
  const { name, version, license } = JSON.parse(read('package.json'))
  const labels = [...read('Dockerfile').matchAll(/org\.opencontainers\.image\.(\w+)=(\S+)/g)].map(
    ([, ...label]) => label,
  )
  expect(Object.fromEntries(labels)).toEqual({ title: name, version, licenses: license, revision: `\${REVISION}` })
})
