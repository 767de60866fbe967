/** The way of a packet through the tables of one bridge: the flow that it has matched in each, whose that is, and its end. Pure. */
import { type BridgeVersion, type FlowNames, readNodeAddress } from '@podwire/network-sdn/description';
import { type Match, parseMatch } from '@podwire/openflow';
import { compact } from '@podwire/platform';
import { findOutputs, type Trace, type TraceOutput, type TraceStep } from '@podwire/unixctl';
import type { BridgeDump } from '../flows/read.js';
import { type FlowView, findVersion, isKnown, purposeOf, viewFlow } from '../flows/view.js';
import { describeEnds, nameOf } from './ends.js';
import { type ClusterNames, nodeAt, toFlowNames } from './names.js';
import type { Question, Tunnel } from './question.js';

export interface StepView {
  /** Counts from 0: connection tracking gives a packet back to the tables. */
  readonly pass: number;
  readonly bridge: string;
  readonly table: number;
  /** Absent where the tables are not known. */
  readonly purpose?: string;
  /** The flow that the packet has matched, as the bridge shows it; absent when it is not there any more. */
  readonly found?: FlowView;
  /** That flow in the words of `ofproto/trace`, or the reason for which there is none. */
  readonly text: string;
  readonly actions: TraceStep['actions'];
}

export interface OutputView {
  /** A number, or the name of a reserved port. */
  readonly port: number | string;
  readonly name?: string;
  readonly table: number;
  /** Where the tunnel behind the port leads, and the VNID that goes with the packet. */
  readonly tunnelDestination?: string;
  readonly tunnelId?: number;
}

/** The way through the bridge of a node. */
export interface HopView {
  /** Name and address of the node; null where they are not known. */
  readonly node: string | null;
  readonly address: string | null;
  readonly bridge: string;
  /** The note in table 253; null when there is none. */
  readonly sdn: BridgeVersion | null;
  readonly inPort: number;
  /** Null for a packet from a pod. */
  readonly tunnel: TunnelView | null;
  readonly steps: readonly StepView[];
  /** The states of connection tracking that passes after the first are for: `trk|new`. */
  readonly ctStates: readonly (string | null)[];
  /** Where the packet has left the bridge; none when it was dropped. */
  readonly outputs: readonly OutputView[];
  /** The end of each way, as a sentence. */
  readonly ends: readonly string[];
  /** Lines of the trace that were not understood. */
  readonly others: readonly string[];
}

export interface TunnelView extends Tunnel {
  /** Its name where that is known. */
  readonly node?: string;
  /** Those that have the VNID, as far as they are known. */
  readonly projects: readonly string[];
}

/** A question to a bridge, and its answer. */
export interface Asked {
  readonly question: Question;
  readonly bridge: string;
  readonly inPort: number;
  readonly dump: BridgeDump;
  readonly trace: Trace;
}

export function viewHop({ question, bridge, inPort, dump, trace }: Asked, cluster: ClusterNames): HopView {
  const sdn = findVersion(dump);
  const address = isKnown(sdn) ? readNodeAddress(dump.flows.map(({ flow }) => flow)) : undefined;
  const node = nodeAt(address, cluster);
  const names = toFlowNames(cluster);
  // Behind a patch port, or a tunnel of the userspace datapath, a trace goes on in another bridge.
  const outputs = findOutputs(trace).filter(({ step }) => step.bridge === bridge);
  const { passes } = trace;
  const traced = { ...question, bridge, inPort, ...compact({ node }) };
  return {
    ...{ node: node ?? null, address: address ?? null, bridge, sdn: sdn ?? null, inPort },
    tunnel: question.tunnel === undefined ? null : viewTunnel(question.tunnel, names),
    steps: passes.flatMap(({ steps }, pass) =>
      steps.map((each) => viewStep(each, pass, { bridge, sdn, dump })),
    ),
    ctStates: passes.slice(1).map(({ resumed }) => resumed?.ctState ?? null),
    outputs: outputs.map((output) => viewOutput(output, dump)),
    ends: describeEnds({ traced, trace, outputs, dump, isKnown: isKnown(sdn), names }),
    others: passes.flatMap(({ others }) => others),
  };
}

const viewTunnel = (tunnel: Tunnel, { node, projects }: FlowNames): TunnelView => ({
  ...tunnel,
  ...compact({ node: node?.(tunnel.source) }),
  projects: projects?.(tunnel.vnid) ?? [],
});

interface OwnBridge {
  readonly bridge: string;
  readonly sdn: BridgeVersion | undefined;
  readonly dump: BridgeDump;
}

/** Flows and tables of other bridges are not known. */
function viewStep(step: TraceStep, pass: number, own: OwnBridge): StepView {
  const { bridge, table, match = '', miss, actions } = step;
  const isOwn = bridge === own.bridge;
  const purpose = isOwn ? purposeOf(table, own.sdn) : undefined;
  const found = isOwn && miss === undefined ? findFlow(step, own.dump) : undefined;
  const text = miss ?? `priority=${step.priority}${match === '' ? '' : `,${match}`}`;
  return { pass, bridge, table, ...compact({ purpose, found }), text, actions };
}

/** The flow of a step by its table, priority and match, which are unique. */
function findFlow({ table, priority, match = '' }: TraceStep, { flows }: BridgeDump): FlowView | undefined {
  const wanted = keyOf(readMatch(match));
  const entry = flows.find(
    ({ flow }) =>
      (flow.table ?? 0) === table && flow.priority === priority && keyOf(flow.match ?? {}) === wanted,
  );
  return entry && viewFlow(entry);
}

const keyOf = (match: Match | undefined): string => JSON.stringify(match);

/** A field that the library does not know makes it unreadable. */
function readMatch(text: string): Match | undefined {
  try {
    return parseMatch(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

function viewOutput({ port, step, ...tunnel }: TraceOutput, dump: BridgeDump): OutputView {
  return { port, table: step.table, ...compact({ name: nameOf(port, dump) }), ...tunnel };
}
