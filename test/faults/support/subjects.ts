/** Attachments that between them need every kind of resource. */
import assert from 'node:assert/strict';
import { ask, pings, type PrivateHost, serveEcho, type TestNamespace } from '@podwire/testkit';
import { type CniCall, networkName } from './calls.js';
import type { Subject } from './matrix.js';

/** A pod's namespace with `lo` up, as the plugin `loopback` leaves it: no DEL takes it down again. */
export async function addPod(host: PrivateHost, name: string): Promise<TestNamespace> {
  const pod = host.addPod(name);
  await pod.ip('link set lo up');
  return pod;
}

/** Both families, a TCP and a UDP host port, both rates: the primary interface of a pod. */
export async function createFullSubject(host: PrivateHost): Promise<Subject> {
  const pod = await addPod(host, 'full');
  // Servers wait in the namespace; while it has no address no client comes.
  await serveEcho(pod, 'tcp', '0.0.0.0', 80);
  await serveEcho(pod, 'udp', '::', 53);
  const addresses = ['10.66.0.2', 'fd66::2'];
  const call = { id: 'full', netns: pod.path } as const;
  const runtimeConfig = {
    ips: addresses,
    mac: '02:00:00:00:66:02',
    portMappings: [
      { hostPort: 8080, containerPort: 80, protocol: 'tcp' },
      { hostPort: 5353, containerPort: 53, protocol: 'udp' },
    ],
    bandwidth: { ingressRate: 50_000_000, egressRate: 50_000_000 },
  };
  return {
    pod,
    key: `${networkName},full,eth0`,
    addresses,
    add: { ...call, command: 'ADD', config: { runtimeConfig } },
    del: { ...call, command: 'DEL' },
    async checkTraffic() {
      await ask(host.namespace, 'tcp', '127.0.0.1', 8080);
      await ask(host.namespace, 'udp', '::1', 5353);
    },
  };
}

/** A further interface: rules and a routing table of its own in the pod. */
export async function createFurtherSubject(host: PrivateHost): Promise<Subject> {
  const pod = await addPod(host, 'further');
  const addresses = ['10.66.0.3', 'fd66::3'];
  const call: Omit<CniCall, 'command'> = { id: 'further', netns: pod.path, ifName: 'net1' };
  const runtimeConfig = { ips: addresses, mac: '02:00:00:00:66:03' };
  return {
    pod,
    key: `${networkName},further,net1`,
    addresses,
    add: { ...call, command: 'ADD', config: { runtimeConfig } },
    del: { ...call, command: 'DEL' },
    async checkTraffic() {
      for (const address of addresses) assert.ok(await pings(host.namespace, address), `ping ${address}`);
    },
  };
}

/** A pod of the second network that no fault may touch. */
export async function bystanderCall(host: PrivateHost): Promise<CniCall> {
  const pod = await addPod(host, 'bystander');
  const config = {
    name: 'bystander',
    runtimeConfig: { portMappings: [{ hostPort: 9090, containerPort: 80, protocol: 'udp' }] },
  };
  return { command: 'ADD', id: 'bystander', netns: pod.path, config };
}
