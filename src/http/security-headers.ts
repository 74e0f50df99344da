import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/**
 * What every answer says to browsers: those of helmet's headers that do something for an API, whose answers are no pages.
 * They are always the same, so helmet is asked once (decision 0035).
 */
export const securityHeaders: Readonly<Record<string, string>> = (() => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const none = ["'none'"]
  const apply = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: none, frameAncestors: none } },
    // TLS ends in front of this service: who ends it says whether there is always some.
    strictTransportSecurity: false,
    // Of pages only, of what can be had without a key, or of browsers that are no more.
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
