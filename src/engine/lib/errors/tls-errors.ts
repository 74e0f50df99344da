/** Codes of OpenSSL and Node for an untrusted certificate, and for a peer that speaks no TLS or another version. */
const codes =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|HOSTNAME_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_OSSL_|EPROTO$)/
/** For libraries that keep only the message. */
const messages = /certificate|altnames|SSL routines|TLS connection|ssl3_/i

/** The TLS problem, which waiting does not resolve; undefined if the error is something else. */
export function tlsProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, message, cause } = error as NodeJS.ErrnoException
  return codes.test(code ?? '') || messages.test(message) ? message.trim() : tlsProblem(cause)
}
