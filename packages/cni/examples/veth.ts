#!/usr/bin/env node
// Joins a pod to the host by a pair of links, with an address from the "ipam" plugin. Needs root and iproute2.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  addWithIpam,
  type AnyResult,
  type Attachment,
  type AttachmentRequest,
  CniError,
  convertResult,
  delegateCheck,
  delegateDel,
  delegateGc,
  delegateStatus,
  ipamType,
  type Result,
  runPlugin,
} from '@podwire/cni';

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { timeout: 10_000, encoding: 'utf8', stdio: 'pipe' });
}

function inPod({ netns }: AttachmentRequest, ...args: readonly string[]): string {
  return run('nsenter', `--net=${netns}`, 'ip', ...args);
}

function macOf(json: string): string {
  const [link] = JSON.parse(json) as [{ readonly address: string }];
  return link.address;
}

function hostNameOf({ containerId, interfaceName }: Attachment): string {
  return `ex${createHash('sha1').update(`${containerId} ${interfaceName}`).digest('hex').slice(0, 11)}`;
}

function removeLink(name: string): void {
  try {
    run('ip', 'link', 'del', name);
  } catch (error) {
    if (!/Cannot find device/.test((error as { readonly stderr: string }).stderr)) throw error;
  }
}

function configure(request: AttachmentRequest, host: string, { ips = [], routes = [] }: Result): void {
  run('ip', 'link', 'set', host, 'up');
  inPod(request, 'link', 'set', request.interfaceName, 'up');
  for (const { address, gateway = '169.254.1.1' } of ips) {
    run('ip', 'address', 'add', `${gateway}/32`, 'dev', host);
    run('ip', 'route', 'add', address.replace(/\/.*/, ''), 'dev', host);
    inPod(request, 'address', 'add', address, 'dev', request.interfaceName);
  }
  const gateway = ips[0]?.gateway ?? '169.254.1.1';
  for (const { dst, gw } of routes) inPod(request, 'route', 'add', dst, 'via', gw ?? gateway);
}

function connect(request: AttachmentRequest, addresses: AnyResult): Result {
  const wanted = convertResult(addresses);
  const [host, pod] = [hostNameOf(request), request.interfaceName];
  run('ip', 'link', 'add', host, 'type', 'veth', 'peer', 'name', pod, 'netns', request.netns);
  try {
    configure(request, host, wanted);
  } catch (error) {
    removeLink(host);
    throw error;
  }
  const interfaces = [
    { name: host, mac: macOf(run('ip', '-j', 'link', 'show', host)) },
    { name: pod, mac: macOf(inPod(request, '-j', 'link', 'show', pod)), sandbox: request.netns },
  ];
  return { ...wanted, interfaces, ips: (wanted.ips ?? []).map((one) => ({ ...one, interface: 1 })) };
}

await runPlugin({
  about: 'veth: a pair of links and routes; an example of @podwire/cni',
  add: (request, context) => addWithIpam(request, context, (addresses) => connect(request, addresses)),
  async del(request, context) {
    removeLink(hostNameOf(request)); // takes the pod's end along
    await delegateDel(ipamType(request), request, context);
  },
  async check(request, context) {
    await delegateCheck(ipamType(request), request, context);
    if (!run('ip', 'link').includes(hostNameOf(request))) throw new CniError(100, 'the link is gone');
  },
  gc: (request, context) => delegateGc(ipamType(request), request, context),
  status: (request, context) => delegateStatus(ipamType(request), request, context),
});
