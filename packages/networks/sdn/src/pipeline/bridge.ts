import type { Flow } from '@podwire/openflow';
import { checkNode } from '../check.js';
import type { SdnNode } from '../types.js';
import { planMode } from './modes.js';
import { planDestinations } from './routes.js';
import { planSources } from './sources.js';

/**
 * Plans the flows that a bridge has without any pod, peer or project. With them alone everything from a tunnel or a
 * pod is dropped.
 * @throws PodwireError OBJECT_INVALID naming what is no IPv4 address or prefix
 */
export function planBridgeFlows(node: SdnNode): Flow[] {
  checkNode(node);
  return [...planSources(node), ...planMode(node.mode), ...planDestinations(node)];
}
