/**
 * Cost of the wiring of one pod, and the kernel's part in it: a veth pair whose peer is born in the pod's
 * namespace, loopback and both ends up, an address, two routes inside, one outside.
 *
 * `library` builds, sends and checks everything through this library, `floor` sends the same bytes, put together
 * beforehand, with bare system calls, and only reads what comes back. They take turns.
 *
 * As root: node packages/netlink/bench/pod-wiring.js [PODS]
 */
import fs from 'node:fs';
import {
  createNamespace,
  deleteNamespace,
  inNamespace,
  openNamespace,
  receive,
  send,
  socket,
} from '@podwire/linux';
import {
  addAddressRequest,
  addRouteRequest,
  createLinkRequest,
  deleteLinkGroupRequest,
  getLinkRequest,
  listLinks,
  listRoutes,
  openRouteConnection,
  setLinkRequest,
} from '@podwire/netlink';
import { datagramLength, encodeDatagram } from '../dist/src/datagram.js';

const pods = Number(process.argv[2] ?? 200);
const files = [];
const SOCK_RAW_CLOEXEC = 3 | 0o2000000;

function makeNamespace(name) {
  const file = `/run/netns/podwire-bench-${process.pid}-${name}`;
  createNamespace(file);
  files.push(file);
  return file;
}

const one = { transmitQueues: 1, receiveQueues: 1 };

function hostRequests(index, address, namespace) {
  const peer = { name: 'eth0', index: 2, mtu: 1450, namespace, ...one };
  const mac = 'ee:ee:ee:ee:ee:ee';
  return [
    createLinkRequest({ kind: 'veth', name: `bench${index}`, index, mtu: 1450, mac, group: 7, ...one, peer }),
    setLinkRequest(index, { up: true, inetSettings: { proxy_arp: 1 } }),
    addRouteRequest({ destination: address, link: index }),
  ];
}

function podRequests(address) {
  return [
    setLinkRequest(1, { up: true }),
    setLinkRequest(2, { up: true }),
    addAddressRequest({ link: 2, address }),
    addRouteRequest({ destination: '169.254.1.1/32', link: 2 }),
    addRouteRequest({ destination: '0.0.0.0/0', gateway: '169.254.1.1', link: 2 }),
  ];
}

function wireWithLibrary(host, file, index, address) {
  const namespace = openNamespace(file);
  host.request(hostRequests(index, address, namespace.fd));
  const pod = openRouteConnection({ namespace });
  pod.request(podRequests(address));
  pod.close();
  namespace.close();
}

const into = Buffer.alloc(65536);

function wireBare(host, fd, hostBytes, podBytes) {
  send(host, hostBytes);
  receive(host, into);
  const pod = inNamespace({ fd }, () => socket(16, SOCK_RAW_CLOEXEC, 0));
  send(pod, podBytes);
  receive(pod, into);
  fs.closeSync(pod);
}

function encode(requests) {
  const bytes = Buffer.alloc(datagramLength(requests));
  encodeDatagram(requests, 1, requests.length - 1, bytes);
  return bytes;
}

const microseconds = (start) => Number(process.hrtime.bigint() - start) / 1000;

function time(work) {
  const start = process.hrtime.bigint();
  work();
  return microseconds(start);
}

function print(name, times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1).padStart(9);
  console.log(`${name.padEnd(34)} p10 ${at(0.1)}   p50 ${at(0.5)}   p99 ${at(0.99)} us`);
}

const repeat = (count, work) => Array.from({ length: count }, () => time(work));

try {
  const hostFile = makeNamespace('host');
  const hostHandle = openNamespace(hostFile);
  const host = openRouteConnection({ namespace: hostHandle });
  const bareHost = inNamespace(hostHandle, () => socket(16, SOCK_RAW_CLOEXEC, 0));
  const times = { library: [], floor: [] };
  for (let pod = 0; pod < pods; pod++) {
    for (const [way, index] of [
      ['library', 1000 + 2 * pod],
      ['floor', 1001 + 2 * pod],
    ]) {
      const file = makeNamespace(index);
      const address = `10.77.${index >> 8}.${index & 255}/32`;
      if (way === 'library') {
        times.library.push(time(() => wireWithLibrary(host, file, index, address)));
        continue;
      }
      const namespace = openNamespace(file);
      const hostBytes = encode(hostRequests(index, address, namespace.fd));
      const podBytes = encode(podRequests(address));
      times.floor.push(time(() => wireBare(bareHost, namespace.fd, hostBytes, podBytes)));
      namespace.close();
    }
  }
  print('wire a pod, library', times.library);
  print('wire a pod, floor', times.floor);
  print(
    'open a connection in a namespace',
    repeat(300, () => openRouteConnection({ namespace: hostHandle }).close()),
  );
  print(
    'get one link',
    repeat(300, () => host.request([getLinkRequest(1000)])),
  );
  print(
    `list ${listLinks(host).length} links`,
    repeat(50, () => listLinks(host)),
  );
  print(
    `list ${listRoutes(host).length} routes`,
    repeat(50, () => listRoutes(host)),
  );
  print(
    `delete ${2 * pods} links as a group`,
    repeat(1, () => host.request([deleteLinkGroupRequest(7)])),
  );
} finally {
  for (const file of files) deleteNamespace(file);
}
