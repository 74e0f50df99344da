import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../brokers/ready.ts'
import { whenDone } from '../lib/when-done.ts'
import { docker, logsOf, serviceImage } from './docker.ts'
import {
  type Build,
  bytesOf,
  type Container,
  containerOf,
  type Deployment,
  type PodSpec,
  type Probe,
  podOf,
} from './manifests.ts'
import type { MountedSecret } from './secret.ts'

/** A user that no image knows, as OpenShift gives each namespace one. */
const user = 1_000_650_000

/** What a cluster has beside the manifests. */
export interface Cluster {
  readonly build: Build
  readonly secrets: Readonly<Record<string, MountedSecret>>
  /** Volumes of Docker by their claims. */
  readonly volumes?: Readonly<Record<string, string>>
  /** What an overlay of the operator's own sets. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface Ending {
  readonly code: number
  /** Whether it had to be killed, as it took longer than its grace period. */
  readonly isKilled: boolean
  /** From when it was told to end, in seconds. */
  readonly seconds: number
}

/** A pod of a Deployment as the kubelet has it: a container with all that the manifest says, its probes, and its end. */
export class Pod {
  readonly name = `petstore-pod-${randomUUID().slice(0, 8)}`
  readonly #spec: PodSpec
  readonly #container: Container
  readonly #ports: Readonly<Record<string, number>>
  readonly #changed: () => void
  readonly #stop = new AbortController()
  /** Whether each answer of a probe was a success, by probe. */
  readonly probed = { startup: [] as boolean[], readiness: [] as boolean[], liveness: [] as boolean[] }
  isReady = false
  isTerminating = false
  /** What the kubelet would have restarted it for. */
  readonly restarts: string[] = []

  private constructor(deployment: Deployment, ports: Readonly<Record<string, number>>, changed: () => void) {
    this.#spec = podOf(deployment)
    this.#container = containerOf(deployment)
    this.#ports = ports
    this.#changed = changed
  }

  static async start(deployment: Deployment, cluster: Cluster, changed: () => void = () => {}): Promise<Pod> {
    const ports = { http: await freePort(), admin: await freePort() }
    const pod = new Pod(deployment, ports, changed)
    whenDone(() => pod.remove())
    await docker('run', '--detach', '--name', pod.name, ...pod.#arguments(cluster))
    pod.#watch()
    return pod
  }

  get url(): string {
    return `http://127.0.0.1:${this.#ports.http}`
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.#ports.admin}`
  }

  get isEndpoint(): boolean {
    return this.isReady && !this.isTerminating
  }

  logs(): Promise<string> {
    return logsOf(this.name)
  }

  /** Resolves to the code with which the container ended. */
  async ended(): Promise<number> {
    return Number(await docker('wait', this.name))
  }

  /** As an eviction or a roll-out ends it. */
  async terminate(): Promise<Ending> {
    const start = performance.now()
    const seconds = () => (performance.now() - start) / 1000
    this.isTerminating = true
    this.#changed()
    const ended = this.ended()
    await delay((this.#container.lifecycle?.preStop.sleep.seconds ?? 0) * 1000)
    this.#stop.abort()
    await docker('kill', '--signal', 'SIGTERM', this.name)
    const grace = new AbortController()
    const graceMs = this.#spec.terminationGracePeriodSeconds * 1000 - seconds() * 1000
    const outOfTime = delay(graceMs, 'out of time' as const, { signal: grace.signal }).catch(() => 'ended' as const)
    const isKilled = (await Promise.race([ended, outOfTime])) === 'out of time'
    grace.abort()
    if (isKilled) await docker('kill', this.name)
    return { code: await ended, isKilled, seconds: seconds() }
  }

  /** Ends it as a node that is lost does. */
  async remove(): Promise<void> {
    this.#stop.abort()
    await docker('rm', '--force', '--volumes', this.name)
  }

  #arguments({ build, secrets, volumes, settings }: Cluster): string[] {
    const { securityContext, resources, volumeMounts } = this.#container
    const { fsGroup } = this.#spec.securityContext
    const memory = String(bytesOf(resources.limits.memory))
    const ports = { PORT: String(this.#ports.http), ADMIN_PORT: String(this.#ports.admin) } // all pods share the host's
    const variables = { ...build.environment(this.#container), ...settings, ...ports }
    const mounts = volumeMounts.flatMap(({ name, mountPath, readOnly }) => {
      const { secret, persistentVolumeClaim } = this.#spec.volumes.find((volume) => volume.name === name) ?? {}
      const source = secret
        ? secrets[secret.secretName]?.folder
        : persistentVolumeClaim && volumes?.[persistentVolumeClaim.claimName]
      if (source === undefined && (secret || persistentVolumeClaim))
        throw new Error(`the cluster has no volume ${name}`)
      return source === undefined
        ? ['--tmpfs', mountPath]
        : ['--volume', `${source}:${mountPath}${readOnly ? ':ro' : ''}`]
    })
    const { options, image } = serviceImage()
    return [
      ...['--network', 'host', '--user', `${user}:0`, '--memory', memory, '--memory-swap', memory],
      ...(fsGroup === undefined ? [] : ['--group-add', String(fsGroup)]),
      ...(securityContext.readOnlyRootFilesystem ? ['--read-only'] : []),
      ...(securityContext.allowPrivilegeEscalation ? [] : ['--security-opt', 'no-new-privileges']),
      ...securityContext.capabilities.drop.flatMap((each) => ['--cap-drop', each]),
      ...options,
      ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...mounts,
      ...image,
    ]
  }

  #watch(): void {
    const { startupProbe, readinessProbe, livenessProbe } = this.#container
    void this.ended().then(
      (code) => this.isTerminating || this.restarts.push(`ended with ${code}`),
      () => {}, // removed
    )
    void this.#probe(startupProbe, this.probed.startup, (isStarted) => {
      if (!isStarted) return this.restarts.push('did not start')
      void this.#probe(readinessProbe, this.probed.readiness, (isReady) => {
        if (isReady === this.isReady) return
        this.isReady = isReady
        this.#changed()
      })
      void this.#probe(livenessProbe, this.probed.liveness, (isLive) => isLive || this.restarts.push('not live'))
      return 'done'
    })
  }

  /** Tells each success, and failures once there are as many in a row as the probe allows, until told that all is done. */
  async #probe(
    { httpGet, periodSeconds, timeoutSeconds, failureThreshold }: Probe,
    answers: boolean[],
    tell: (isGood: boolean) => unknown,
  ): Promise<void> {
    const url = `http://127.0.0.1:${this.#ports[httpGet.port]}${httpGet.path}`
    while (!this.#stop.signal.aborted) {
      const next = delay(periodSeconds * 1000, undefined, { signal: this.#stop.signal }).catch(() => {})
      const isGood = await isOk(url, timeoutSeconds)
      if (this.#stop.signal.aborted) return
      answers.push(isGood)
      const isFailed = answers.length >= failureThreshold && !answers.slice(-failureThreshold).includes(true)
      if ((isGood || isFailed) && tell(isGood) === 'done') return
      await next
    }
  }
}

/** As the kubelet takes an answer: each status from 200 to 399 is a success. */
async function isOk(url: string, timeoutSeconds: number): Promise<boolean> {
  try {
    const headers = { connection: 'close' }
    const { status, body } = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1000), headers })
    await body?.cancel()
    return status < 400
  } catch {
    return false
  }
}
