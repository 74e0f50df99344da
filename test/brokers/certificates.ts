import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** An authority, and a certificate that it gave to a server on this machine and to its clients alike. */
export function certificates(folder: string) {
  const [ca, caKey, cert, key, request, both] = ['ca', 'ca-key', 'cert', 'key', 'request', 'both'].map((name) =>
    join(folder, `${name}.pem`),
  ) as [string, string, string, string, string, string]
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', caKey, '-out', ca, '-subj', '/CN=test')
  const subject = ['-subj', '/CN=petstore', '-addext', 'subjectAltName=IP:127.0.0.1']
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', request, ...subject)
  openssl('x509', '-req', '-in', request, '-CA', ca, '-CAkey', caKey, '-out', cert, '-copy_extensions', 'copy')
  writeFileSync(both, readFileSync(key, 'utf8') + readFileSync(cert, 'utf8'))
  return { ca, cert, key, both }
}
