import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An object of a build, as far as these tests look at it. `.ci/kubernetes` has held it against its schema. */
export interface Manifest<Kind extends string = string, Spec = unknown> {
  readonly kind: Kind
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly spec: Spec
  readonly data?: Readonly<Record<string, string>>
}

export type Labels = Readonly<Record<string, string>>
export interface Selector {
  readonly matchLabels: Labels
}

export type Deployment = Manifest<'Deployment', DeploymentSpec>
interface DeploymentSpec {
  readonly replicas?: number
  readonly minReadySeconds?: number
  readonly strategy?: { readonly type?: string; readonly rollingUpdate?: { maxSurge: number | string } }
  readonly selector: Selector
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec }
}

export interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: {
    readonly runAsNonRoot: boolean
    readonly fsGroup?: number
    readonly seccompProfile: object
  }
  readonly containers: readonly [Container]
  readonly volumes: readonly Volume[]
}

export interface Volume {
  readonly name: string
  readonly secret?: { readonly secretName: string; readonly defaultMode: number }
  readonly persistentVolumeClaim?: { readonly claimName: string }
  readonly emptyDir?: object
}

export interface Container {
  readonly image: string
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly resources: { readonly limits: Record<string, string>; readonly requests: Record<string, string> }
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
  readonly securityContext: {
    readonly allowPrivilegeEscalation: boolean
    readonly readOnlyRootFilesystem: boolean
    readonly capabilities: { readonly drop: readonly string[] }
  }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly timeoutSeconds: number
  readonly failureThreshold: number
}

/** What `.ci/kubernetes` built: `embedded`, `brokers`, and both as on OpenShift. */
export class Build {
  readonly objects: readonly Manifest[]

  constructor(name: string) {
    const folder = process.env.KUBERNETES_BUILT
    if (folder === undefined)
      throw new Error('KUBERNETES_BUILT is not set: run .ci/kubernetes, which builds the manifests')
    this.objects = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
  }

  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it looks at
  all<M extends Manifest<string, any>>(kind: M['kind']): readonly M[] {
    return this.objects.filter((object) => object.kind === kind) as unknown as readonly M[]
  }

  get deployments(): readonly Deployment[] {
    return this.all<Deployment>('Deployment')
  }

  deployment(name: string): Deployment {
    const found = this.deployments.find(({ metadata }) => metadata.name === name)
    if (found === undefined) throw new Error(`the build has no Deployment ${name}`)
    return found
  }

  /** The variables of a container, those of its settings included. */
  environment({ env, envFrom }: Container): Record<string, string> {
    const settings = envFrom.map(({ configMapRef: { name } }) => {
      const found = this.all('ConfigMap').find(({ metadata }) => metadata.name === name)
      if (found === undefined) throw new Error(`the build has no ConfigMap ${name}`)
      return found.data ?? {}
    })
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    return Object.assign({}, ...settings, own)
  }
}

export function podOf({ spec }: Deployment): PodSpec {
  return spec.template.spec
}

export function containerOf(deployment: Deployment): Container {
  return podOf(deployment).containers[0]
}

/** Whether the selector finds what has the labels. */
export function finds({ matchLabels }: Selector, labels: Labels = {}): boolean {
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value)
}

/** Bytes, as Kubernetes writes them. */
export function bytesOf(quantity = ''): number {
  const [, number, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? []
  if (number === undefined) throw new Error(`${quantity} is no number of Mi or Gi`)
  return Number(number) * (unit === 'Gi' ? 2 ** 30 : 2 ** 20)
}
