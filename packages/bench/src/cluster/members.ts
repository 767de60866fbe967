/** Real agents on machines of their own with one real etcd, for the benchmarks. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { keysBelow, poolKind, type PoolPart } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import {
  type Agent,
  type ClusterHost,
  type ClusterHosts,
  createClusterHosts,
  startAgent,
} from '@podwire/testkit';
import { type Etcd, type EtcdSpec, startEtcd } from '@podwire/testkit/etcd';
import { fillPool } from './bare-node.js';

export interface Member {
  readonly host: ClusterHost;
  readonly agent: Agent;
}

export interface Members {
  readonly hosts: ClusterHosts;
  readonly etcd: Etcd;
  readonly members: readonly Member[];
  close(): Promise<void>;
}

export interface MembersOptions {
  readonly name: string;
  readonly nodes: number;
  /** Machines without an agent, behind those with one. */
  readonly more?: number;
  /** The agent's command line up to `--config FILE`. */
  readonly agent: readonly string[];
  readonly pools: readonly PoolPart[];
  /** Makes a machine ready for its agent. Resolves with more of its configuration. */
  readonly prepare?: (
    host: ClusterHost,
    index: number,
    all: { readonly hosts: readonly ClusterHost[]; readonly etcd: Etcd },
  ) => Promise<Readonly<Record<string, unknown>>>;
}

/** Milliseconds: a busy machine is no failure. */
const startTimeout = 60_000;

export async function startMembers({
  name,
  nodes,
  more: others = 0,
  agent,
  pools,
  prepare = () => Promise.resolve({}),
}: MembersOptions): Promise<Members> {
  const hosts = await createClusterHosts({ name, hosts: nodes + others });
  let started: Etcd | undefined;
  const close = async (): Promise<void> => {
    await hosts.close().finally(() => started?.close());
  };
  try {
    const etcd = (started = await startEtcd({ namespace: hosts.middle, address: hosts.address }));
    const keys = keysBelow('/podwire');
    for (const pool of pools) {
      await etcd.control(['put', keys.pool(pool.name), encodeObject(poolKind, fillPool(pool))]);
    }
    const members = await Promise.all(
      hosts.hosts.slice(0, nodes).map(async (host, index) => {
        const more = await prepare(host, index, { hosts: hosts.hosts, etcd });
        const config = { ...memberConfig(host, index, etcd.spec), ...more };
        return { host, agent: await startAgent(host, { entry: agent, config, timeout: startTimeout }) };
      }),
    );
    return { hosts, etcd, members, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Configuration of an agent; `coolDown` as people have it, since it is a part of an ADD. */
export const memberConfig = (host: ClusterHost, index: number, store: EtcdSpec): Record<string, unknown> => ({
  nodeName: `n${index + 1}`,
  stateDir: makeVolatileDirectory(host),
  networks: [{ name: 'default' }],
  cluster: { store },
});

/**
 * The agent's records belong on /run, which is memory on every machine that systemd has started. On machines with /run on a
 * disk, /dev/shm stands in for it.
 */
export function makeVolatileDirectory(host: Pick<ClusterHost, 'defer'>): string {
  const place = ['/run', '/dev/shm'].find(isMemory) ?? os.tmpdir();
  const directory = fs.mkdtempSync(path.join(place, 'pwt-'));
  host.defer(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** statfs(2): the magic number of tmpfs. */
const isMemory = (directory: string): boolean => fs.statfsSync(directory).type === 0x01021994;
