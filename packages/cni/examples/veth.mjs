#!/usr/bin/env node
// Joins a pod to the host by a pair of links, with an address from the "ipam" plugin. Needs root and iproute2.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  addWithIpam,
  CniError,
  convertResult,
  delegateCheck,
  delegateDel,
  delegateGc,
  delegateStatus,
  ipamType,
  runPlugin,
} from '@podwire/cni';

const run = (...argv) =>
  execFileSync(argv[0], argv.slice(1), { timeout: 10_000, encoding: 'utf8', stdio: 'pipe' });
const inPod = ({ netns }, ...argv) => run('nsenter', `--net=${netns}`, 'ip', ...argv);
const macOf = (json) => JSON.parse(json)[0].address;
const hostNameOf = ({ containerId, interfaceName }) =>
  `ex${createHash('sha1').update(`${containerId} ${interfaceName}`).digest('hex').slice(0, 11)}`;

function removeLink(name) {
  try {
    run('ip', 'link', 'del', name);
  } catch (error) {
    if (!/Cannot find device/.test(error.stderr)) throw error;
  }
}

function connect(request, addresses) {
  const { ips = [], routes = [] } = convertResult(addresses, '1.1.0');
  const [host, pod] = [hostNameOf(request), request.interfaceName];
  run('ip', 'link', 'add', host, 'type', 'veth', 'peer', 'name', pod, 'netns', request.netns);
  try {
    run('ip', 'link', 'set', host, 'up');
    inPod(request, 'link', 'set', pod, 'up');
    for (const { address, gateway } of ips) {
      run('ip', 'address', 'add', `${gateway}/32`, 'dev', host);
      run('ip', 'route', 'add', address.split('/')[0], 'dev', host);
      inPod(request, 'address', 'add', address, 'dev', pod);
    }
    for (const { dst, gw } of routes) inPod(request, 'route', 'add', dst, 'via', gw ?? ips[0].gateway);
  } catch (error) {
    removeLink(host);
    throw error;
  }
  const interfaces = [
    { name: host, mac: macOf(run('ip', '-j', 'link', 'show', host)) },
    { name: pod, mac: macOf(inPod(request, '-j', 'link', 'show', pod)), sandbox: request.netns },
  ];
  return { cniVersion: '1.1.0', interfaces, ips: ips.map((one) => ({ ...one, interface: 1 })), routes };
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
