/** A node whose plugin does with commands what OpenShift SDN did. Its bridge has the same flows as those of the model sdn. */
import fs from 'node:fs';
import path from 'node:path';
import {
  gatewayOf,
  HOST_LINK,
  HOST_PORT,
  planBridgeFlows,
  TUNNEL_LINK,
  TUNNEL_PORT,
} from '@podwire/network-sdn';
import { formatFlow } from '@podwire/openflow';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { type Candidate, environmentOf, firstIpv4, type PodSlot } from '../candidates.js';
import type { Job } from '../launcher.js';
import { BRIDGE } from './bare-switch.js';
import { sdnOptions } from './nodes.js';

export interface CommandsNode {
  readonly candidate: Candidate;
  close(): Promise<void>;
}

const plugin = path.resolve(import.meta.dirname, '../../../native/ovs-commands.sh');
const subnet = '10.128.0.0/23';
const gateway = gatewayOf(subnet);
const flows = planBridgeFlows({ ...sdnOptions, address: '192.0.2.1', subnet, vxlanPort: 4789 });

/** @param binDir with `host-local`. @returns undefined where it is missing */
export async function startCommandsNode(binDir: string): Promise<CommandsNode | undefined> {
  if (!fs.existsSync(path.join(binDir, 'host-local'))) return undefined;
  const host = await createPrivateHost({ name: 'commands' });
  try {
    const own = await OpenVSwitch.start(host.namespace);
    host.defer(() => own.close());
    await makeBridge(host, own);
    return { candidate: commandsCandidate(host, own.runDir, binDir), close: () => host.close() };
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function makeBridge(host: PrivateHost, own: OpenVSwitch): Promise<void> {
  const settings = ['datapath_type=netdev', 'fail_mode=secure', 'protocols=OpenFlow14'];
  const tunnel = ['type=vxlan', 'options:remote_ip=flow', 'options:key=flow'];
  await own.vsctl(
    ...['add-br', BRIDGE, '--', 'set', 'Bridge', BRIDGE, ...settings],
    ...addPort(TUNNEL_LINK, TUNNEL_PORT, tunnel),
    ...addPort(HOST_LINK, HOST_PORT, ['type=internal']),
  );
  await own.ofctl(['--bundle', 'add-flows', 'BRIDGE', '-'], flows.map(formatFlow).join('\n'));
  await host.namespace.ip(`link set ${HOST_LINK} up`, `addr add ${gateway}/23 dev ${HOST_LINK}`);
  // The node's kernel sees packets of pods too on this datapath, and must not answer for the switch.
  await host.run(['sysctl', '-q', '-w', 'net.ipv4.conf.default.rp_filter=1']);
}

const addPort = (name: string, number: number, settings: readonly string[]): string[] => [
  ...['--', 'add-port', BRIDGE, name],
  ...['--', 'set', 'Interface', name, `ofport_request=${number}`, ...settings],
];

function commandsCandidate(host: PrivateHost, runDir: string, binDir: string): Candidate {
  const ipam = {
    ...{ type: 'host-local', dataDir: path.join(host.directory, 'host-local') },
    ranges: [[{ subnet }]],
  };
  const input = JSON.stringify({ cniVersion: '1.0.0', name: 'bench', ipam });
  const job = (command: string, pod: PodSlot): Job => {
    const own = { OVS_RUNDIR: runDir, LINK: `pod${pod.index}`, VNID: '42', GATEWAY: gateway };
    return [{ program: plugin, environment: { ...environmentOf(command, pod, binDir), ...own }, input }];
  };
  return {
    ...{ name: 'commands', title: 'host-local, ip, ovs-vsctl and ovs-ofctl', host },
    add: (pod) => job('ADD', pod),
    delete: (pod) => job('DEL', pod),
    addressOf: (_, result) => firstIpv4(result),
  };
}
