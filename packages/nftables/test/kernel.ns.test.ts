import { before, describe, it } from 'node:test';
import {
  createNamespace,
  deleteNamespace,
  type NamespaceHandle,
  openNamespace,
  warmThreadPool,
} from '@podwire/linux';
import { NETLINK_NETFILTER, type NetlinkConnection, openNetlinkConnection } from '@podwire/netlink';
import { createConntrack, createNftables } from '@podwire/nftables';
import { requirements } from './compliance.js';
import { conntrackRequirements } from './conntrack-compliance.js';
import { insertConnections } from './conntrack-insert.js';
import { withoutDestroy, withoutFilteredDelete } from './older-kernels.js';

let number = 0;

/** Runs `work` in a network namespace of its own. */
async function inNewNamespace(work: (namespace: NamespaceHandle) => Promise<void>): Promise<void> {
  const file = `/run/netns/pw-nft-${process.pid}-${number++}`;
  createNamespace(file);
  const namespace = openNamespace(file);
  try {
    await work(namespace);
  } finally {
    namespace.close();
    deleteNamespace(file);
  }
}

before(async () => await warmThreadPool());

for (const [kernel, adapt] of [
  ['the kernel', (connection: NetlinkConnection) => connection],
  ['a kernel before 6.3', withoutDestroy],
] as const) {
  describe(`nftables of ${kernel}`, () => {
    for (const { name, check } of requirements) {
      it(name, async () => {
        await inNewNamespace(async (namespace) => {
          const connection = openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace });
          const nftables = createNftables(adapt(connection), { namespace });
          try {
            await check(nftables);
          } finally {
            nftables.close();
          }
        });
      });
    }
  });
}

for (const [kernel, adapt] of [
  ['the kernel', (connection: NetlinkConnection) => connection],
  ['a kernel before 6.11', withoutFilteredDelete],
] as const) {
  describe(`connection tracking of ${kernel}`, () => {
    for (const { name, check } of conntrackRequirements) {
      it(name, async () => {
        await inNewNamespace(async (namespace) => {
          const netlink = openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace });
          const conntrack = createConntrack(adapt(netlink));
          try {
            await check(conntrack, (connections) => {
              insertConnections(netlink, connections);
              return Promise.resolve();
            });
          } finally {
            conntrack.close();
          }
        });
      });
    }
  });
}
