/**
 * `monitors.ts FILE.json FOLDER`: whether each ServiceMonitor of a build is valid, by the package in the folder. Its types refuse
 * unknown fields, and its validator wrong values.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [file = '', folder = ''] = process.argv.slice(2)
const objects: { kind: string }[] = JSON.parse(readFileSync(file, 'utf8'))
const monitors = objects.filter(({ kind }) => kind === 'ServiceMonitor')
if (monitors.length === 0) throw new Error(`${file} has no ServiceMonitor`)

const name = '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
const texts = monitors.flatMap((each, index) => [
  `const monitor${index}: IServiceMonitor = ${JSON.stringify(each)}`,
  `new ServiceMonitor(monitor${index}).validate()\n`,
])
const program = `import { type IServiceMonitor, ServiceMonitor } from '${name}'\n${texts.join('\n')}`
writeFileSync(join(folder, 'program.ts'), program)

const tsc = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')
run(tsc, '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext', 'program.ts')
run('program.ts')

function run(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  if (status === 0) return
  process.stdout.write(stdout + stderr)
  process.exit(1)
}
