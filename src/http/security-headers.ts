import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/**
 * The headers that every answer sends to browsers: those of helmet's headers that matter for an API, whose answers are
 * not pages. They are always the same, so helmet runs once (decision 0035).
 */
export const securityHeaders: Readonly<Record<string, string>> = (() => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const none = ["'none'"]
  const apply = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: none, frameAncestors: none } },
    // TLS ends in front of this service, so whatever terminates it sends this header.
    strictTransportSecurity: false,
    // These concern only pages, content that is available without a key, or obsolete browsers.
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: false,
    referrerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  })
  apply(response.req, response, () => {})
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]))
})()
