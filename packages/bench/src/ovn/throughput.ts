/** TCP between pods of the model ovn, and between pods whose rows were made by hand, on one node and between two. */
import type { TestNamespace } from '@podwire/testkit';
import type { OvnCentral, OvnNode } from '@podwire/testkit/ovn';
import type { Programs, StepCall } from '../call.js';
import { addPods } from '../candidates.js';
import type { Member } from '../cluster/members.js';
import { pourInTurns, type Way } from '../cluster/throughput.js';
import { launchAll } from '../launcher.js';
import { pairedRatio } from '../statistics.js';
import { defaultSwitch, type OvnCluster, ovnCandidate } from './cluster.js';

export interface OvnThroughputOptions {
  readonly rounds: number;
  readonly megabytes: number;
}

/** Bits per second, one for each round. */
interface Rates {
  readonly podwire: readonly number[];
  readonly byHand: readonly number[];
  /** The median over the rounds. */
  readonly ratio: number;
}

export interface OvnThroughput {
  readonly onNode: Rates;
  /** By geneve. */
  readonly between: Rates;
}

interface End {
  readonly namespace: TestNamespace;
  readonly address: string;
}

export async function measureOvnThroughput(
  cluster: OvnCluster,
  options: OvnThroughputOptions & Programs & StepCall,
): Promise<OvnThroughput> {
  const ways = [...(await joinByPodwire(cluster, options)), ...(await joinByHand(cluster))];
  await pourInTurns(ways, options, 'TCP between pods of the model ovn');
  const [ownNear, ownFar, otherNear, otherFar] = ways.map(({ rates }): Bits => rates);
  return { onNode: compare(ownNear!, otherNear!), between: compare(ownFar!, otherFar!) };
}

type Bits = readonly number[];

const compare = (podwire: Bits, byHand: Bits): Rates => ({
  ...{ podwire, byHand, ratio: pairedRatio(podwire, byHand) },
});

const join = ({ namespace: client }: End, { namespace: server, address }: End): Way => ({
  ...{ client, server, address, rates: [] },
});

/** To a server from a pod on its node, and from one on the other. */
async function joinByPodwire(
  { members: [one, two] }: OvnCluster,
  options: Programs & StepCall,
): Promise<readonly Way[]> {
  const server = await addByPodwire(one!, options);
  const [near, far] = [await addByPodwire(one!, options), await addByPodwire(two!, options)];
  return [join(near, server), join(far, server)];
}

async function joinByHand({ central, nodes: [one, two] }: OvnCluster): Promise<readonly Way[]> {
  const server = await addByHand(central, one!, 1);
  const [near, far] = [await addByHand(central, one!, 2), await addByHand(central, two!, 3)];
  return [join(near, server), join(far, server)];
}

async function addByPodwire(member: Member, { binDir, signal }: Programs & StepCall): Promise<End> {
  const candidate = ovnCandidate(member, binDir);
  const [slot] = addPods(member.host, 1);
  const [added] = await launchAll(member.host.namespace, 1, [candidate.add(slot!)], signal);
  return { namespace: member.host.pods[slot!.index]!, address: candidate.addressOf(slot!, added!.output)! };
}

/** @param number of its names and addresses */
async function addByHand(central: OvnCentral, node: OvnNode, number: number): Promise<End> {
  const [port, address] = [`hand${number}`, `10.16.201.${number}`];
  const mac = `00:00:00:ab:00:${number.toString(16).padStart(2, '0')}`;
  const { name, length, gateway } = defaultSwitch;
  await central.nbctl('lsp-add', name, port, '--', 'lsp-set-addresses', port, `${mac} ${address}`);
  const place = { port, mac, address: `${address}/${length}`, gateway };
  return { namespace: await node.addPod(place), address };
}
