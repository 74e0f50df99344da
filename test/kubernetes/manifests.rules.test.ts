import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { environmentOf } from '../../src/engine/app/environment.ts'
import { Build, bytesOf, containerOf, finds, type Labels, type Manifest, podOf, type Selector } from './manifests.ts'

const builds = ['embedded', 'brokers', 'openshift-embedded', 'openshift-brokers', 'documented'].map((name) => ({
  name,
  build: new Build(name),
}))
const [embedded, brokers] = [new Build('embedded'), new Build('brokers')]
const operations = readFileSync('docs/operations.md', 'utf8')

type Service = Manifest<
  'Service',
  { readonly selector: Labels; readonly ports: readonly { name: string; targetPort: string }[] }
>
type Budget = Manifest<
  'PodDisruptionBudget',
  { selector: Selector; maxUnavailable: number; unhealthyPodEvictionPolicy: string }
>
type Autoscaler = Manifest<'HorizontalPodAutoscaler', { scaleTargetRef: { name: string }; minReplicas: number }>
type Monitor = Manifest<
  'ServiceMonitor',
  { selector: Selector; jobLabel: string; endpoints: readonly { port: string }[] }
>
type Policy = Manifest<
  'NetworkPolicy',
  { podSelector: Selector; policyTypes: string[]; ingress: Rule[]; egress?: Rule[] }
>
type Rule = { readonly ports: readonly { readonly port: string | number }[] }

describe.each(builds)('$name', ({ build }) => {
  it.each(build.deployments.map((each) => ({ name: each.metadata.name, each })))(
    '$name is what the restricted Pod Security asks for, and names no user',
    ({ each }) => {
      const { securityContext, automountServiceAccountToken, volumes, ...pod } = podOf(each)
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(automountServiceAccountToken).toBe(false)
      const container = containerOf(each).securityContext
      expect(container).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(pod.containers).toHaveLength(1)
      for (const name of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers']) expect(pod).not.toHaveProperty(name)
      for (const name of ['runAsUser', 'runAsGroup']) expect(securityContext).not.toHaveProperty(name)
      const kinds = volumes.flatMap(({ name: _, ...kind }) => Object.keys(kind))
      expect(kinds.filter((kind) => !['secret', 'emptyDir', 'persistentVolumeClaim'].includes(kind))).toEqual([])
    },
  )

  it('has its namespace refuse less', () => {
    const [namespace] = build.all('Namespace')
    expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' })
  })

  it('sets variables that the service reads', () => {
    const known = Object.keys(environmentOf({ topic: 'any', prefix: 'any' }).properties)
    for (const each of build.deployments) {
      const names = Object.keys(build.environment(containerOf(each)))
      expect(names.filter((name) => name !== 'NODE_OPTIONS' && !known.includes(name))).toEqual([])
    }
  })

  it('probes what the operations page documents, on the port that is for it', () => {
    const [, adminPort] = /The image sets `ADMIN_PORT=(\d+)`/.exec(operations) ?? []
    const documented = [...operations.matchAll(/^\| `(\/\w+z)` \|/gm)].map(([, path]) => path)
    for (const each of build.deployments) {
      const { ports, startupProbe, readinessProbe, livenessProbe } = containerOf(each)
      expect(ports).toContainEqual({ name: 'admin', containerPort: Number(adminPort) })
      const probed = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)
      expect(probed.map(({ path }) => path)).toEqual(['/livez', '/livez', '/readyz'])
      for (const { path, port } of probed) expect([documented.includes(path), port]).toEqual([true, 'admin'])
    }
  })

  it('gives a process the time that its shutdown may take, and memory beside its heap', () => {
    const [, closing] = /After (\d+\.\d) s it ends in any case/.exec(operations) ?? []
    for (const each of build.deployments) {
      const { lifecycle, resources } = containerOf(each)
      const stops = (lifecycle?.preStop.sleep.seconds ?? 0) + Number(closing)
      expect(podOf(each).terminationGracePeriodSeconds).toBeGreaterThan(stops + 1)
      const { NODE_OPTIONS = '' } = build.environment(containerOf(each))
      const heap = Number(/^--max-old-space-size=(\d+)$/.exec(NODE_OPTIONS)?.[1]) * 2 ** 20
      const limit = bytesOf(resources.limits.memory)
      expect(heap).toBeGreaterThanOrEqual(limit / 2)
      expect(heap).toBeLessThanOrEqual(0.75 * limit)
      expect(bytesOf(resources.requests.memory)).toBeLessThanOrEqual(limit)
    }
  })

  it('mounts Secrets as folders that nobody writes to, each readable by any user', () => {
    for (const each of build.deployments) {
      const { volumeMounts } = containerOf(each)
      for (const { name, secret } of podOf(each).volumes) {
        if (secret === undefined) continue
        const mount = volumeMounts.find((one) => one.name === name)
        expect(mount).toEqual({ name, mountPath: expect.any(String), readOnly: true }) // without a subPath
        expect(secret.defaultMode).toBe(0o444)
      }
      const folders = volumeMounts.map(({ mountPath }) => mountPath)
      const files = Object.entries(build.environment(containerOf(each))).filter(([name]) => name.endsWith('_FILE'))
      for (const [name, file] of files) expect([name, folders]).toEqual([name, expect.arrayContaining([parent(file)])])
    }
  })

  it('has services, monitors and policies that find the pods and their ports', () => {
    const pods = build.deployments.map((each) => each.spec.template.metadata.labels)
    const found = (matchLabels: Labels) => pods.filter((labels) => finds({ matchLabels }, labels)).length
    const portNames = ['http', 'admin']
    const services = build.all<Service>('Service')
    for (const { metadata, spec } of services) {
      expect(found(spec.selector)).toBe(metadata.name === 'petstore' ? 1 : pods.length)
      for (const { targetPort } of spec.ports) expect(portNames).toContain(targetPort)
    }
    const [monitor] = build.all<Monitor>('ServiceMonitor')
    const [watched, ...others] = services.filter(({ metadata }) =>
      finds(monitor?.spec.selector as Selector, metadata.labels),
    )
    expect(others).toEqual([])
    expect(watched?.metadata.labels?.[monitor?.spec.jobLabel ?? '']).toBe('petstore') // as in ops/alerts.yml
    for (const { port } of monitor?.spec.endpoints ?? []) {
      expect(watched?.spec.ports.map(({ name }) => name)).toContain(port)
    }
    const [policy] = build.all<Policy>('NetworkPolicy')
    expect(found(policy?.spec.podSelector.matchLabels ?? {})).toBe(pods.length)
    expect(policy?.spec.policyTypes).toEqual(['Ingress', 'Egress'])
    expect(portsOf(policy?.spec.ingress).sort()).toEqual(['admin', 'http'])
  })
})

it('one process with a volume ends before the next one starts, and nothing holds up a drain', () => {
  const [only, ...others] = embedded.deployments
  expect(others).toEqual([])
  expect(only?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
  expect(only?.spec.strategy).not.toHaveProperty('rollingUpdate')
  for (const kind of ['PodDisruptionBudget', 'HorizontalPodAutoscaler']) expect(embedded.all(kind)).toEqual([])
  expect(containerOf(only as never).lifecycle).toBeUndefined() // it would only be away for longer
  expect(embedded.all<Policy>('NetworkPolicy')[0]?.spec.egress).toBeUndefined()
})

it('processes on brokers may be drained one at a time, even where none is ready', () => {
  const budgets = brokers.all<Budget>('PodDisruptionBudget')
  for (const { spec } of brokers.deployments) {
    const own = budgets.filter((budget) => finds(budget.spec.selector, spec.template.metadata.labels))
    expect(own.map(({ spec }) => spec)).toMatchObject([
      { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    ])
    expect(spec.strategy?.rollingUpdate).toMatchObject({ maxUnavailable: 0 })
  }
})

it('the autoscaler alone says how many processes serve the API', () => {
  const [{ spec } = { spec: undefined }] = brokers.all<Autoscaler>('HorizontalPodAutoscaler')
  expect(spec?.minReplicas).toBeGreaterThanOrEqual(2)
  expect(brokers.deployment(spec?.scaleTargetRef.name ?? '').spec).not.toHaveProperty('replicas')
})

it('only processes that serve the API have its keys', () => {
  const secretsOf = (name: string) =>
    podOf(brokers.deployment(name)).volumes.flatMap(({ secret }) => secret?.secretName ?? [])
  expect(secretsOf('petstore-api').sort()).toEqual(['petstore-api-keys', 'petstore-brokers'])
  expect(secretsOf('petstore-projector')).toEqual(['petstore-brokers'])
})

it('the way to Kafka is open', () => {
  const [policy] = brokers.all<Policy>('NetworkPolicy')
  const { KAFKA_BROKERS = '' } = brokers.environment(containerOf(brokers.deployment('petstore-api')))
  const ports = portsOf(policy?.spec.egress)
  for (const broker of KAFKA_BROKERS.split(',')) expect(ports).toContain(Number(broker.split(':').at(-1)))
})

it('an overlay as documented has its own image and settings, beside those that it leaves as they are', () => {
  const documented = new Build('documented')
  for (const each of documented.deployments) {
    expect(containerOf(each).image).toBe('images.example/petstore-animals:1.0.0')
    const { KAFKA_BROKERS, TRUST_PROXY, KAFKA_TLS } = documented.environment(containerOf(each))
    expect([KAFKA_BROKERS?.split(',').length, TRUST_PROXY, KAFKA_TLS]).toEqual([2, '10.244.0.0/16', 'true'])
  }
})

it('OpenShift gives volumes a group of its own', () => {
  const groups = builds.map(({ name, build }) => [
    name,
    build.deployments.map((each) => podOf(each).securityContext.fsGroup),
  ])
  expect(Object.fromEntries(groups)).toEqual({
    embedded: [expect.any(Number)],
    brokers: [undefined, undefined],
    'openshift-embedded': [undefined],
    'openshift-brokers': [undefined, undefined],
    documented: [undefined, undefined],
  })
})

function portsOf(rules: readonly Rule[] = []): (string | number)[] {
  return rules.flatMap(({ ports }) => ports.map(({ port }) => port))
}

function parent(file: string): string {
  return file.slice(0, file.lastIndexOf('/'))
}
