/** The way of a packet from switch to switch, and what becomes of it. Pure. */
import { HOST_PORT, TUNNEL_PORT } from '@podwire/network-sdn/description';
import { compact } from '@podwire/platform';
import { isKnown } from '../flows/view.js';
import { formatCommand } from './arrivals.js';
import type { HopView } from './hop.js';
import type { Question } from './question.js';
import type { Walk } from './walk.js';

export interface WalkView extends Omit<Question, 'tunnel'> {
  /** `sent`: it has left the switches that were asked, and none of them has given it to a pod. */
  readonly outcome: 'delivered' | 'sent' | 'dropped';
  readonly hops: readonly HopView[];
  /** Where the packet goes on, on nodes that cannot be asked from here, with the command to run there. */
  readonly continued: readonly ContinuedView[];
}

export interface ContinuedView {
  readonly address: string;
  readonly node?: string;
  readonly command: string;
}

export function viewWalk({ tunnel: _, ...question }: Question, walk: Walk): WalkView {
  const { hops, unasked } = walk;
  return {
    ...question,
    outcome: findOutcome(walk),
    hops,
    continued: unasked.map(({ address, node, question: next }) => ({
      ...{ address, ...compact({ node }) },
      command: formatCommand(next, hops[0]!.bridge),
    })),
  };
}

function findOutcome({ hops, unasked }: Walk): WalkView['outcome'] {
  if (hops.some(reachesPod)) return 'delivered';
  return unasked.length > 0 || hops.at(-1)!.outputs.length > 0 ? 'sent' : 'dropped';
}

/** Every port of OpenShift SDN is that of a pod, but the two that all nodes have. */
const reachesPod = ({ sdn, outputs }: HopView): boolean =>
  isKnown(sdn ?? undefined) &&
  outputs.some(({ port }) => typeof port === 'number' && port !== TUNNEL_PORT && port !== HOST_PORT);
