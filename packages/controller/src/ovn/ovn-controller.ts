/** A candidate for the leadership of those controllers that write OVN's northbound database. */
import { listDefaults, type OvnDefaults } from '@podwire/cluster-ovn';
import { type Keys, keysBelow } from '@podwire/cluster-state';
import { describeError, PodwireError } from '@podwire/errors';
import { type ClusterAccess, KubernetesClient } from '@podwire/kubernetes-client';
import { OvsdbClient, parseEndpoint } from '@podwire/ovsdb';
import type { Clock, FaultPoints, Log } from '@podwire/platform';
import { electLeader, type Lock, openStore, type Store, type StoreSpec } from '@podwire/store';
import { KubernetesSide } from './kubernetes/kubernetes-side.js';
import { LogicalNetwork } from './logical-network.js';
import { OvnLoop } from './ovn-loop.js';

export interface OvnControllerOptions {
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Log;
  /** The holder's name in the lock: `NODE/PID`. */
  readonly name: string;
  /** Endpoints of the northbound database: `unix:PATH`, `tcp:HOST:PORT`; several of a cluster. */
  readonly northbound: readonly string[];
  readonly defaults?: Partial<OvnDefaults>;
  /** Of the tunnels between nodes. */
  readonly encapsulation?: 'geneve' | 'vxlan';
  /** An API server whose pods get addresses before their ADD, and whose stateful sets keep theirs. */
  readonly kubernetes?: KubernetesClient | undefined;
  /** Milliseconds after which a leader that died is replaced. 15 s by default. */
  readonly ttl?: number;
  /** Where a test lets the leader die. None by default. */
  readonly faults?: FaultPoints;
}

export interface OvnController {
  /** Campaigns for the leadership, and leads, until the signal aborts. @throws PodwireError STORE_DENIED */
  run(signal: AbortSignal): Promise<void>;
  readonly isLeading: boolean;
  /** For a status; each begins with a code. Empty while it does not lead. */
  problems(): readonly string[];
}

/** As Kube-OVN has them. */
export const ovnDefaults: OvnDefaults = { joinCidr: '100.64.0.0/16', defaultCidr: '10.16.0.0/16' };

/** @throws PodwireError CONFIG_INVALID for endpoints or addresses that cannot be */
export function createOvnController(options: OvnControllerOptions): OvnController {
  const { store, keys, clock, log, name, northbound, ttl = 15_000, encapsulation = 'geneve' } = options;
  checkEndpoints(northbound);
  const defaults = requireValid('addresses', () => listDefaults({ ...ovnDefaults, ...options.defaults }));
  let loop: OvnLoop | undefined;
  const { kubernetes: api, faults } = options;

  async function lead({ fence, lost }: Lock): Promise<void> {
    const guard = [{ key: keys.ovnLeader, expect: fence }];
    const client = new OvsdbClient({ database: 'OVN_Northbound', endpoints: northbound });
    const network = new LogicalNetwork(client, log, faults);
    const kubernetes = api && new KubernetesSide({ client: api, clock, random: Math.random, log });
    const over = new AbortController();
    const following = kubernetes?.run(AbortSignal.any([lost, over.signal]));
    try {
      const [access, writer] = [{ store, keys, clock, guard }, `${name}/${fence}`];
      loop = new OvnLoop({ access, network, defaults, encapsulation, kubernetes, log, writer, faults });
      await loop.run(lost);
    } finally {
      loop = undefined;
      over.abort();
      await network.close();
      await following;
    }
  }

  return {
    run: (signal) => electLeader({ store, key: keys.ovnLeader, holder: name, ttl, clock, log, lead }, signal),
    get isLeading() {
      return loop !== undefined;
    },
    problems: () => loop?.problems ?? [],
  };
}

/** @throws PodwireError CONFIG_INVALID */
export function checkEndpoints(northbound: readonly string[]): void {
  requireValid('northbound', () => northbound.map(parseEndpoint));
}

function requireValid<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${field}: ${describeError(cause)}`, { cause });
  }
}

export interface RunOvnOptions extends Omit<OvnControllerOptions, 'store' | 'keys' | 'kubernetes'> {
  readonly store: StoreSpec;
  readonly kubernetes?: ClusterAccess | undefined;
  /** The prefix of all keys: `/podwire`. */
  readonly root: string;
}

/** As a process of its own, until the signal aborts. @throws PodwireError CONFIG_INVALID, STORE_DENIED, STORE_UNAVAILABLE */
export async function runOvnController(
  { store: spec, root, kubernetes: access, ...options }: RunOvnOptions,
  signal: AbortSignal,
): Promise<void> {
  const { log, clock } = options;
  const onTrouble = (message: string): void => log.warn({}, message);
  const kubernetes = access && new KubernetesClient(access, { onTrouble });
  try {
    const store = await openStore(spec, { log, clock });
    try {
      await createOvnController({ ...options, store, keys: keysBelow(root), kubernetes }).run(signal);
    } finally {
      await store.close();
    }
  } finally {
    await kubernetes?.close();
  }
}
