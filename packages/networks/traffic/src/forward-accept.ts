import type { ForwardAccept } from '@podwire/backend-linux/resources';
import { forwardingLinks } from './link-names.js';

/**
 * A firewall that drops what it does not know on the forward hook would cut pods off: Docker Engine makes DROP the policy of iptables'
 * FORWARD when it switches forwarding on. Pods' packets get an accept in place of the policy, behind all other rules.
 * @param more links of models
 */
export function planForwardAccept(more: readonly string[] = []): ForwardAccept[] {
  const links = forwardingLinks(more);
  return (['ip', 'ip6'] as const).map((family) => ({
    kind: 'forward-accept',
    family,
    chain: 'PODWIRE-FORWARD',
    links,
  }));
}
