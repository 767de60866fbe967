import type { ForwardAccept } from '@podwire/backend-linux/resources';
import { podLinkPrefix } from './link-names.js';
import { tunnel } from './tunnel.js';

/**
 * A firewall that drops what it does not know on the forward hook would cut pods off: Docker Engine makes DROP the policy of iptables'
 * FORWARD when it switches forwarding on. Pods' packets get an accept in place of the policy, behind all other rules.
 */
export function planForwardAccept(): ForwardAccept[] {
  const links = [`${podLinkPrefix}*`, tunnel.link];
  return (['ip', 'ip6'] as const).map((family) => ({
    kind: 'forward-accept',
    family,
    chain: 'PODWIRE-FORWARD',
    links,
  }));
}
