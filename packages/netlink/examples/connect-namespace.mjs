// Connects a network namespace with a veth pair whose far end is born in it, the way a pod gets its network.
//
//   ip netns add web
//   node connect-namespace.mjs /run/netns/web 10.1.0.2
import fs from 'node:fs';
import {
  addAddress,
  addNeighbour,
  addRoute,
  createLink,
  decodeLink,
  openRouteConnection,
  setLink,
} from '@podwire/netlink';

const [file, address] = process.argv.slice(2);
const namespace = { fd: fs.openSync(file, 'r') };
const here = openRouteConnection();
const there = openRouteConnection(namespace);

// One system call. The reply is the new link.
const mac = 'ee:ee:ee:ee:ee:ee';
const peer = { name: 'eth0', index: 2, namespace: namespace.fd };
const [[created]] = here.request([createLink({ kind: 'veth', name: 'web0', mac, peer }, { echo: true })]);
const { index } = decodeLink(created);

// One more for the inside: loopback and link up, the address, and a default route through the other end of the pair.
there.request([
  setLink('lo', { up: true }),
  setLink(2, { up: true }),
  addAddress({ link: 2, address: `${address}/32` }),
  addRoute({ destination: '169.254.1.1/32', link: 2 }),
  addRoute({ destination: '0.0.0.0/0', gateway: '169.254.1.1', link: 2 }),
  addNeighbour({ link: 2, address: '169.254.1.1', mac }),
]);

// And one for the outside.
here.request([setLink(index, { up: true }), addRoute({ destination: `${address}/32`, link: index })]);
console.log(`${address} is behind web0`);
