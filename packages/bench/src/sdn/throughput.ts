/** TCP between two pods of the model sdn on one node, and between two pods on a bridge that was made by hand. */
import { switchLinkFeature } from '@podwire/linux';
import { createPrivateHost, type PrivateHost, type TestNamespace } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import type { Programs, StepCall } from '../call.js';
import { addPods } from '../candidates.js';
import { pourInTurns, type Way } from '../cluster/throughput.js';
import { launchAll } from '../launcher.js';
import { pairedRatio } from '../statistics.js';
import { BRIDGE } from './bare-switch.js';
import { sdnCandidate, startSdnNode } from './nodes.js';

export interface SdnThroughputOptions {
  readonly rounds: number;
  readonly megabytes: number;
}

/** Bits per second, one for each round. */
export interface SdnThroughput {
  readonly podwire: readonly number[];
  /** Through the action `NORMAL`, without any flow of a model. */
  readonly byHand: readonly number[];
  /** The median over the rounds. */
  readonly ratio: number;
}

interface Open {
  readonly way: Way;
  close(): Promise<void>;
}

export async function measureSdnThroughput(
  options: SdnThroughputOptions & Programs & StepCall,
): Promise<SdnThroughput> {
  const opened: Open[] = [];
  try {
    opened.push(await openByPodwire(options));
    opened.push(await openByHand());
    const ways = opened.map(({ way }) => way);
    await pourInTurns(ways, options, 'TCP between pods of the model sdn');
    const [podwire = [], byHand = []] = ways.map(({ rates }) => rates);
    return { podwire, byHand, ratio: pairedRatio(podwire, byHand) };
  } finally {
    for (const one of opened) await one.close();
  }
}

async function openByPodwire({ agent, binDir, signal }: Programs & StepCall): Promise<Open> {
  const node = await startSdnNode(agent);
  try {
    const candidate = sdnCandidate(node, binDir);
    const pods = addPods(node.host, 2);
    const jobs = pods.map((pod) => candidate.add(pod));
    const [, added] = await launchAll(node.host.namespace, 1, jobs, signal);
    const [client, server] = node.host.pods as [TestNamespace, TestNamespace];
    const address = candidate.addressOf(pods[1]!, added!.output)!;
    return { way: { client, server, address, rates: [] }, close: () => node.close() };
  } catch (error) {
    await node.close();
    throw error;
  }
}

async function openByHand(): Promise<Open> {
  const host = await createPrivateHost({ name: 'hand' });
  try {
    const own = await OpenVSwitch.start(host.namespace);
    host.defer(() => own.close());
    await own.vsctl('add-br', BRIDGE, '--', 'set', 'Bridge', BRIDGE, 'datapath_type=netdev');
    await own.ofctl(['add-flow', 'BRIDGE', 'actions=NORMAL']);
    const [client, server] = [await makePod(host, own, 2), await makePod(host, own, 3)];
    return { way: { client, server, address: addressOf(3), rates: [] }, close: () => host.close() };
  } catch (error) {
    await host.close();
    throw error;
  }
}

const addressOf = (number: number): string => `10.129.0.${number}`;

/** With the MTU and the checksums of pods of the model: the switch passes packets on as it reads them. */
async function makePod(host: PrivateHost, own: OpenVSwitch, number: number): Promise<TestNamespace> {
  const pod = host.addPod();
  const link = `pod${number}`;
  await host.namespace.ip(
    `link add ${link} mtu 1450 type veth peer name eth0 mtu 1450 netns ${pod.name}`,
    `link set ${link} up`,
  );
  pod.inside(() => switchLinkFeature('eth0', 'tx-checksumming', false));
  await pod.ip('link set eth0 up', `addr add ${addressOf(number)}/24 dev eth0`);
  await own.vsctl('add-port', BRIDGE, link);
  return pod;
}
