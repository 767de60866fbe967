/**
 * Where policies of host endpoints look at packets, in the order in which a packet meets them. Calico's `doNotTrack` is `untracked`,
 * its `preDNAT` is `pre-dnat`, its `applyOnForward` is `forward`.
 */
import type { HostMode } from '@podwire/policy';
import type { BaseChain, Direction } from '../names.js';

export interface HostHook {
  readonly mode: HostMode;
  readonly direction: Direction;
  readonly hook: BaseChain['hook'];
  readonly priority: number;
}

/**
 * Connection tracking is at -200, translation of destinations at -100. The table of traffic takes its tunnels out of tracking at -300:
 * behind that they can be told from other packets. Of two chains on `forward` each has its own link, and an accept ends one chain only.
 */
export const hostHooks: readonly HostHook[] = [
  { mode: 'untracked', direction: 'ingress', hook: 'prerouting', priority: -299 },
  { mode: 'untracked', direction: 'egress', hook: 'output', priority: -299 },
  { mode: 'pre-dnat', direction: 'ingress', hook: 'prerouting', priority: -150 },
  { mode: 'normal', direction: 'ingress', hook: 'input', priority: 5 },
  { mode: 'normal', direction: 'egress', hook: 'output', priority: 5 },
  { mode: 'forward', direction: 'ingress', hook: 'forward', priority: -10 },
  { mode: 'forward', direction: 'egress', hook: 'forward', priority: 10 },
];

export const hostChain = ({ mode, direction }: HostHook): string => `host-${mode}-${direction}`;

/** From a link of the node to the chain of its host endpoint. */
export const hostsMap = ({ mode, direction }: HostHook): string => `hosts-${mode}-${direction}`;

/** Nothing else of a node uses this bit: kube-proxy has 0x4000 and 0x8000, Cilium 0xf00, Calico all from 0x10000 to 0x80000. */
export const acceptedMark = 0x0010_0000;
