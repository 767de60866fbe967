import { after, before, describe, it } from 'node:test';
import {
  createNamespace,
  deleteNamespace,
  type NamespaceHandle,
  openNamespace,
  warmThreadPool,
} from '@podwire/linux';
import { NETLINK_NETFILTER, openNetlinkConnection } from '@podwire/netlink';
import { openConntrack, openNftables } from '@podwire/nftables';
import { requirements } from './compliance.js';
import { conntrackRequirements } from './conntrack-compliance.js';
import { insertConnections } from './conntrack-insert.js';

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
after(() => undefined);

for (const destroySupported of [undefined, false]) {
  const kernel = destroySupported === undefined ? 'the kernel' : 'a kernel without NFT_MSG_DESTROYSETELEM';
  describe(`nftables of ${kernel}`, () => {
    for (const { name, check } of requirements) {
      it(name, async () => {
        await inNewNamespace(async (namespace) => {
          const nftables = openNftables({ namespace, destroySupported });
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

for (const filterSupported of [undefined, false]) {
  const kernel = filterSupported === undefined ? 'the kernel' : 'a kernel without CTA_FILTER for deletions';
  describe(`connection tracking of ${kernel}`, () => {
    for (const { name, check } of conntrackRequirements) {
      it(name, async () => {
        await inNewNamespace(async (namespace) => {
          const conntrack = openConntrack({ namespace, filterSupported });
          const netlink = openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace });
          try {
            await check(conntrack, (connections) => {
              insertConnections(netlink, connections);
              return Promise.resolve();
            });
          } finally {
            netlink.close();
            conntrack.close();
          }
        });
      });
    }
  });
}
