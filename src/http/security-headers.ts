import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/**
 * What every answer says to browsers: helmet's headers for an API, whose answers are no pages. They are always the same, so
 * helmet is asked once (decision 0035).
 */
export const securityHeaders: readonly (readonly [name: string, value: string])[] = (() => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const none = ["'none'"]
  const apply = helmet({
    strictTransportSecurity: { includeSubDomains: false }, // others may be at those
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: none, frameAncestors: none } },
    // Of pages only, or of browsers that are no more.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  })
  apply(response.req, response, () => {})
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
})()
