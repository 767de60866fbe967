import { randomBytes } from 'node:crypto';
import { keysBelow, openClusterCache, poolKind, type PoolPart } from '@podwire/cluster-state';
import { createNodeAddressing, type NodeAddressing, type NodeAddressingOptions } from '@podwire/cluster-ipam';
import { createController } from '@podwire/controller';
import { systemClock } from '@podwire/platform';
import { encodeObject } from '@podwire/store';
import { createMemoryServer, type MemoryServer, type MemoryStore } from '@podwire/store/memory';
import { onTestFinished, vi } from 'vitest';
import type { ClusterMember } from '../../src/cluster/contract.js';
import type { StateFiles } from '../../src/cluster/state-files.js';
import type { LinkAddress } from '../../src/cluster/underlay.js';
import { loadRecords } from '../../src/recovery.js';
import type { FakeAddressing } from './fake-addressing.js';
import { createHarness, type Harness, type HarnessOptions } from './harness.js';
import { fillPool } from './pools.js';

export const keys = keysBelow('/podwire');

/** A state directory in memory. Copying it is like restoring a machine's image. */
export interface MemoryFiles extends StateFiles {
  readonly texts: Map<string, string>;
}

export function createMemoryFiles(texts = new Map<string, string>()): MemoryFiles {
  return {
    texts,
    read: (name) => texts.get(name),
    write: (name, text) => void texts.set(name, text),
    append: (name, text) => void texts.set(name, (texts.get(name) ?? '') + text),
  };
}

export interface TestNode extends Harness {
  readonly member: ClusterMember;
  readonly addressing: NodeAddressing;
  readonly store: MemoryStore;
  readonly files: MemoryFiles;
  /** As a start of the agent does it; resolves when the first reconcile is over, however it went. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Another agent on what this one has left: state directory, records and kernel. */
  again(change?: NodeOptions): TestNode;
}

export interface NodeOptions extends HarnessOptions {
  readonly files?: MemoryFiles;
  /** ADDRESS/LENGTH of eth0. */
  readonly addresses?: readonly string[];
  /** Of the store's servers. */
  readonly storeAddresses?: readonly string[];
  /** Lines of the `cluster` part of the configuration. */
  readonly cluster?: string;
  /** True to start the agent while the store cannot be reached. */
  readonly cut?: boolean;
}

export interface TestCluster {
  readonly server: MemoryServer;
  /** For the test itself. */
  readonly store: MemoryStore;
  putPool(pool: PoolPart): Promise<void>;
  node(name: string, options?: NodeOptions): TestNode;
}

let nodes = 0;

export function createTestCluster(
  createAddressing: (options: NodeAddressingOptions) => NodeAddressing = createNodeAddressing,
): TestCluster {
  const server = createMemoryServer();
  const store = server.connect();
  onTestFinished(() => store.close());
  return {
    server,
    store,
    putPool: async (pool) =>
      void (await store.put(keys.pool(pool.name), encodeObject(poolKind, fillPool(pool)))),
    node: (name, options = {}) => createNode(server, createAddressing, name, ++nodes, options),
  };
}

function createNode(
  server: MemoryServer,
  createAddressing: (options: NodeAddressingOptions) => NodeAddressing,
  name: string,
  number: number,
  options: NodeOptions,
): TestNode {
  const { files = createMemoryFiles(), cut = false, cluster = '', ...rest } = options;
  const store = server.connect({ timeout: 5 });
  if (cut) store.cut();
  let addressing: NodeAddressing | undefined;
  const addresses = options.addresses ?? [`192.0.2.${number}/24`, `2001:db8::${number.toString(16)}/64`];
  const yaml = `nodeName: ${name}\nnetworks: [{ name: default }]\ncluster:\n  store: { kind: embedded }\n${cluster}`;
  const harness = createHarness({
    yaml,
    ...rest,
    dependencies: {
      random: randomBytes,
      ...rest.dependencies,
      cluster: {
        store,
        files,
        clock: systemClock,
        readAddresses: () =>
          addresses.map((address): LinkAddress => ({ link: 2, address, global: true, passing: false })),
        readLinkState: () => '',
        storeAddresses: () => options.storeAddresses ?? [],
        openCache: openClusterCache,
        createAddressing: (given) => (addressing = createAddressing(given)),
        createController,
      },
    },
  });
  const { context, reconciler } = harness;
  const member = context.cluster!;
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await reconciler.stop();
    await member.stop();
    await store.close();
  };
  const node: TestNode = {
    ...harness,
    member,
    addressing: addressing!,
    store,
    files,
    async start() {
      loadRecords(context);
      await member.join({ ...context, loop: reconciler });
      await reconciler.run().catch(() => undefined);
      reconciler.start();
    },
    stop: () => (stopping ??= stop()),
    again: (change = {}) =>
      createNode(server, createAddressing, name, number, {
        ...options,
        engine: harness.engine,
        records: harness.records,
        namespaces: harness.namespaces,
        files,
        ...change,
      }),
  };
  onTestFinished(() => node.stop());
  return node;
}

export const fakeOf = ({ addressing }: TestNode): FakeAddressing => addressing as FakeAddressing;

/** Until what happens in the background has happened. */
export const until = (look: () => unknown): Promise<unknown> =>
  vi.waitFor(
    async () => {
      if (!(await look())) throw new Error(`still not: ${look.toString()}`);
    },
    { timeout: 30_000, interval: 5 },
  );
