// Connects a network namespace with a veth pair whose far end is born in it, the way a pod gets its network.
//
//   ip netns add web
//   node connect-namespace.js /run/netns/web 10.1.0.2
import fs from 'node:fs';
import {
  addAddressRequest,
  addNeighbourRequest,
  addRouteRequest,
  createLink,
  openRouteConnection,
  setLinkRequest,
} from '@podwire/netlink';

const [file = '/run/netns/web', address = '10.1.0.2'] = process.argv.slice(2);
const namespace = { fd: fs.openSync(file, 'r') };
const here = openRouteConnection();
const there = openRouteConnection({ namespace });

// One system call. The pair is told where its far end is born.
const mac = 'ee:ee:ee:ee:ee:ee';
const peer = { name: 'eth0', index: 2, namespace: namespace.fd };
const { index } = createLink(here, { kind: 'veth', name: 'web0', index: 1000, mac, peer });

// One more for the inside: loopback and link up, the address, and a default route through the other end of the pair.
there.request([
  setLinkRequest('lo', { up: true }),
  setLinkRequest(2, { up: true }),
  addAddressRequest({ link: 2, address: `${address}/32` }),
  addRouteRequest({ destination: '169.254.1.1/32', link: 2 }),
  addRouteRequest({ destination: '0.0.0.0/0', gateway: '169.254.1.1', link: 2 }),
  addNeighbourRequest({ link: 2, address: '169.254.1.1', mac }),
]);

// And one for the outside.
here.request([
  setLinkRequest(index, { up: true }),
  addRouteRequest({ destination: `${address}/32`, link: index }),
]);
console.log(`${address} is behind web0`);
