/** A master of the model tenant: a candidate for the leadership, and a port that answers as the leader does. */
import { type GlobalRequest, leaderKey, planStart, TenantMaster } from '@podwire/cluster-tenant';
import { PodwireError } from '@podwire/errors';
import { type Clock, type Log, pause, untilAborted } from '@podwire/platform';
import { electLeader, type Lock, openStore, type Store, type StoreSpec } from '@podwire/store';
import { type RestServer, serveRest } from './rest/server.js';

export interface TenantControllerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Where the REST API listens; an empty host is all addresses. */
  readonly listen: { readonly host: string; readonly port: number };
  /** `HOST:PORT` where other masters and agents reach it; where it listens, by default. */
  readonly advertise?: string;
  /** Settings of the cluster, written where they are missing, and changed as long as that is possible. */
  readonly settings?: GlobalRequest;
  /** Milliseconds after which a leader that died is replaced. 30 s by default, as in the original. */
  readonly ttl?: number;
  readonly version: string;
  /** It listens. @param address `HOST:PORT` */
  readonly onListening?: (address: string) => void;
}

/** Milliseconds for all that one request does in the store. */
const deadline = 10_000;
/** Milliseconds. */
const beginAgainAfter = 1_000;
/** A holder of the lock that can be asked. */
const addressShape = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/;

/** Until the signal aborts. @throws the error of listening; PodwireError STORE_DENIED */
export async function runTenantMaster(options: TenantControllerOptions, signal: AbortSignal): Promise<void> {
  const { store, clock, log, ttl = 30_000 } = options;
  let leading: TenantMaster | undefined;
  const server = await listen(options, () => leading);
  const holder = options.advertise ?? server.address;
  const lead = async ({ fence, lost }: Lock): Promise<void> => {
    const guard = [{ key: leaderKey, expect: fence }];
    const master = new TenantMaster({ store, guard, deadline, log, lost });
    leading = master;
    try {
      await prepare(master, options, lost);
      await untilAborted(lost);
    } finally {
      leading = undefined;
    }
  };
  try {
    options.onListening?.(server.address);
    await electLeader({ store, key: leaderKey, holder, ttl, clock, log, lead }, signal);
  } finally {
    await server.stop();
  }
}

function listen(
  { store, clock, log, listen: place, version }: TenantControllerOptions,
  master: () => TenantMaster | undefined,
): Promise<RestServer> {
  const findLeader = async (signal: AbortSignal): Promise<string | undefined> => {
    const holder = (await store.get(leaderKey, { signal }))?.value;
    return holder !== undefined && addressShape.test(holder) ? holder : undefined;
  };
  return serveRest({ ...place, master, findLeader, version, clock, log });
}

/** Until it is done: requests behind it are answered meanwhile, if only with what is wrong in the store. */
async function prepare(
  master: TenantMaster,
  options: TenantControllerOptions,
  lost: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  while (!lost.aborted)
    try {
      return await writeStart(master, options, lost);
    } catch (err) {
      if (lost.aborted) return;
      log.error({ err }, 'the master cannot begin; it is tried again');
      await pause(clock, beginAgainAfter, lost);
    }
}

/** Settings that cannot change any more stay as they are: networks were made by them. */
async function writeStart(
  master: TenantMaster,
  { settings = {}, log }: TenantControllerOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await master.write((cluster) => planStart(cluster, settings), signal);
  } catch (err) {
    if (!(err instanceof PodwireError && err.code === 'TENANT_CONFLICT')) throw err;
    log.error({ err }, 'the settings of the command line cannot be taken; those of the store stay');
    await master.write((cluster) => planStart(cluster, {}), signal);
  }
}

export interface RunTenantOptions extends Omit<TenantControllerOptions, 'store'> {
  readonly store: StoreSpec;
}

/** As a process of its own, until the signal aborts. @throws as {@link runTenantMaster} */
export async function runTenantController(
  { store: spec, ...options }: RunTenantOptions,
  signal: AbortSignal,
): Promise<void> {
  const store = await openStore(spec, options);
  try {
    await runTenantMaster({ ...options, store }, signal);
  } finally {
    await store.close();
  }
}
