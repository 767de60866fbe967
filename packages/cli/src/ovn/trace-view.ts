/** The way of a packet through switches and routers of the logical network, and what becomes of it. Pure. */
import type { LogicalPlaces, LogicalPort } from '@podwire/controller';
import {
  asksForNeighbour,
  type Decision,
  describeDecision,
  isAnswer,
  readAcl,
  readOutput,
} from './decisions.js';
import type { LogicalQuestion, Microflow } from './question.js';
import type { LogicalFlow, LogicalPass, LogicalTrace } from './trace-text.js';

export interface LogicalTraceView extends LogicalQuestion, Microflow {
  /** `sent`: it leaves the logical network. `answered`: a router replies in place of the receiver. */
  readonly outcome: 'delivered' | 'sent' | 'answered' | 'dropped';
  /** In one line. */
  readonly verdict: string;
  readonly datapaths: readonly DatapathView[];
}

/** A switch or router, from where the packet comes into it. */
export interface DatapathView {
  readonly kind: 'switch' | 'router';
  readonly name: string;
  readonly inport: string;
  readonly decisions: readonly Decision[];
}

export interface Asked {
  readonly question: LogicalQuestion;
  readonly microflow: Microflow;
  readonly places: LogicalPlaces;
}

export function viewTrace(
  { question, microflow, places }: Asked,
  { passes }: LogicalTrace,
): LogicalTraceView {
  const end = findEnd(question, passes, places);
  return { ...question, ...microflow, ...end, datapaths: listDatapaths(passes) };
}

/** Ingress and egress of one visit are one. */
function listDatapaths(passes: readonly LogicalPass[]): DatapathView[] {
  const found: (DatapathView & { decisions: Decision[] })[] = [];
  for (const { pipeline, datapath: name, inport, flows } of passes) {
    const decisions = flows.map(describeDecision).filter((each) => each !== undefined);
    const last = found.at(-1);
    if (pipeline === 'egress' && last?.name === name) last.decisions.push(...decisions);
    else found.push({ kind: kindOf(flows), name, inport, decisions });
  }
  return found;
}

const kindOf = (flows: readonly LogicalFlow[]): 'switch' | 'router' =>
  flows[0]?.stage.startsWith('lr_') === true ? 'router' : 'switch';

type End = Pick<LogicalTraceView, 'outcome' | 'verdict'>;

function findEnd(question: LogicalQuestion, passes: readonly LogicalPass[], places: LogicalPlaces): End {
  const output = passes
    .flatMap(({ flows }) => flows.map(readOutput))
    .find((each) => each !== undefined && each.type !== 'patch');
  if (output === undefined) return { outcome: 'dropped', verdict: describeDrop(question, passes, places) };
  const router = passes.find(({ flows }) => flows.some(isAnswer))?.datapath;
  if (router !== undefined) return { outcome: 'answered', verdict: `the router ${router} answers` };
  const port = places.ports.find(({ name }) => name === output.port);
  return port === undefined ? describeForeign(output) : describeArrival(question, port);
}

const describeForeign = ({ port, type }: { readonly port: string; readonly type: string }): End => ({
  outcome: 'sent',
  verdict:
    type === 'localnet'
      ? `leaves through ${port} for the network outside of OVN`
      : `leaves by the logical port ${port}, which is of no pod and no node that the store knows`,
});

function describeArrival({ from, to }: LogicalQuestion, port: LogicalPort): End {
  if (port.pod !== undefined)
    return { outcome: 'delivered', verdict: `reaches ${port.name}${describeWay(from, port)}` };
  const isOwn = port.addresses.includes(to.address);
  const way = describeWay(from, port);
  return isOwn
    ? { outcome: 'delivered', verdict: `reaches the node ${port.node}${way}` }
    : { outcome: 'sent', verdict: `leaves through the node ${port.node} (${port.switch})` };
}

function describeWay({ node: source }: LogicalPort, { node, pod }: LogicalPort): string {
  if (node === undefined) return ', which is on no node yet';
  const place = pod === undefined ? '' : ` on node ${node}`;
  if (source === undefined) return place;
  return source === node
    ? pod === undefined
      ? ''
      : `${place}, where it started`
    : `${place} through a tunnel`;
}

function describeDrop(
  { to }: LogicalQuestion,
  passes: readonly LogicalPass[],
  places: LogicalPlaces,
): string {
  const last = passes.at(-1);
  const flow = last?.flows.at(-1);
  if (last === undefined || flow === undefined) return 'dropped: no stage says why';
  const { datapath } = last;
  const place = kindOf(last.flows) === 'switch' ? describeSubnet(datapath, places) : `router ${datapath}`;
  if (asksForNeighbour(flow)) return `dropped: ${place} finds no port with the address ${to.address}`;
  return `${describeReason(flow, to.address)} of ${place}`;
}

const describeSubnet = (name: string, { switches }: LogicalPlaces): string =>
  `subnet ${name}${switches.find((each) => each.name === name)?.isPrivate === true ? ' (private)' : ''}`;

function describeReason(flow: LogicalFlow, target: string): string {
  const { stage, match, priority, actions } = flow;
  const acl = readAcl(flow);
  if (acl !== undefined) {
    const verb = actions.some((action) => action.startsWith('reject')) ? 'refused' : 'dropped';
    return `${verb} by the ACL "${acl.match}" (priority ${acl.priority})`;
  }
  if (stage === 'lr_in_policy') return `dropped by the policy "${match}" (priority ${priority})`;
  if (stage === 'lr_in_ip_routing') return `dropped: ${target} is in no route`;
  if (/port_sec/.test(stage)) return 'dropped by the port security';
  return `dropped in the stage ${stage}`;
}
