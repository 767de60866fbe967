import { address, forwardingEntry, neighbour } from './addresses.js';
import type { RtnetlinkKind } from './kind.js';
import { neighbourAnswers } from './answers.js';
import { ifb, linkLocalMode, linkReady, linkUp, veth, vxlan } from './links.js';
import type { RtnetlinkResources } from './resources.js';
import { route, rule } from './routes.js';
import { ingressRedirect, tokenBucket } from './traffic-control.js';

/** To add a kind: declare it in resources.ts and put its object here; the compiler finds what is missing. */
export const rtnetlinkKinds = {
  veth,
  ifb,
  vxlan,
  'link-up': linkUp,
  'link-ready': linkReady,
  'link-local-mode': linkLocalMode,
  address,
  route,
  rule,
  neighbour,
  'neighbour-answers': neighbourAnswers,
  'forwarding-entry': forwardingEntry,
  'token-bucket': tokenBucket,
  'ingress-redirect': ingressRedirect,
} satisfies { [K in keyof RtnetlinkResources]: RtnetlinkKind<RtnetlinkResources[K]> };
