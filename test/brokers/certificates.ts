import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Certificates = ReturnType<typeof certificates>

/** An authority, and a certificate that it gave to a server on this machine and to its clients alike. */
export function certificates(folder: string) {
  const [ca, caKey, cert, key, request, both] = ['ca', 'ca-key', 'cert', 'key', 'request', 'both'].map((name) =>
    join(folder, `${name}.pem`),
  ) as [string, string, string, string, string, string]
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', caKey, '-out', ca, '-subj', '/CN=test')
  const subject = ['-subj', '/CN=petstore', '-addext', 'subjectAltName=IP:127.0.0.1,IP:::1']
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', request, ...subject)
  openssl('x509', '-req', '-in', request, '-CA', ca, '-CAkey', caKey, '-out', cert, '-copy_extensions', 'copy')
  writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'))
  return { ca, cert, key, both }
}

/** As whom a broker asks itself, for the state of a transaction. */
const ownUser = 'admin'

/** Properties of a broker that asks its clients for a certificate and a password. */
export function certificateAndPassword({ ca, both }: Certificates, users: readonly string[], password: string) {
  const logins = new Set([ownUser, ...users])
  const credentials = [...logins].map((name) => `user_${name}="${password}"`).join(' ')
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  return {
    'listener.security.protocol.map': 'PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT',
    ...{ 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': both },
    ...{ 'ssl.client.auth': 'required', 'ssl.truststore.type': 'PEM', 'ssl.truststore.location': ca },
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    // By default a broker asks for the state of a transaction without TLS, takes the answer for a size, and ends.
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.name.plaintext.plain.sasl.jaas.config': `${module} required username="${ownUser}" password="${password}" ${credentials};`,
  }
}

/** How a client of such a broker is made. */
export function accessAs(username: string, password: string, { ca, cert, key }: Certificates) {
  const ssl = { ca: readFileSync(ca, 'utf8'), cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  return { ssl, sasl: { mechanism: 'plain', username, password } as const }
}
