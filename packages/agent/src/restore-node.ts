/** Putting back what agents have changed on the node, when the last one is gone for good. */
import fs from 'node:fs';
import path from 'node:path';
import { openRecordDirectory } from './records/directory.js';
import { LIVE_GROUP, openKernel } from '@podwire/backend-linux';
import { type CallOptions, createEngine, type Engine } from '@podwire/engine';
import { describeError, PodwireError } from '@podwire/errors';
import { hasCode, readBootId } from '@podwire/linux';
import { listLinks, type NetlinkConnection, openRouteConnection } from '@podwire/netlink';
import { planForwardAccept } from '@podwire/network-traffic';
import { deadlineSignal } from '@podwire/platform';
import { openBackends } from './backends.js';
import { indexModels, networkModels } from './models.js';
import { resourceKinds } from './resource-kinds.js';
import { openStateFiles } from './cluster/state-files.js';
import type { AgentConfig } from './config/index.js';
import { planRestore } from './node/restore-plan.js';
import { recallRouter, routerFile } from './node/router-history.js';
import { readKernelRouter, type RouterView } from './node/router-view.js';
import { claimNetworkNamespace, lockFileName, lockStateDirectory } from './own-node.js';

/** Result for something that an agent has made or changed. */
export interface NodeChange {
  readonly action: 'restored' | 'removed' | 'kept' | 'failed';
  /** In words, for `kept` and `failed` with the reason. */
  readonly what: string;
  /** Nothing was changed, for a reason that can pass: a later call does it. */
  readonly again?: true;
}

/**
 * Makes the node what it was before the agent: parameters, packet filter, routes and links. Changes nothing while an agent runs or pods are
 * left. Goes on after errors, and reports all; done again it does the rest.
 * @param command what people call again, for messages
 */
export async function restoreNode(
  config: AgentConfig,
  signal: AbortSignal,
  command = 'uninstall',
): Promise<NodeChange[]> {
  const again = `run ${command} again`;
  if (process.getuid?.() !== 0) return [keepAll(`only root can put it back; ${again} as root`)];
  const releases: (() => void)[] = [];
  try {
    // Where there is no lock, no agent has used the directory; and an uninstall makes none.
    if (fs.existsSync(path.join(config.stateDir, lockFileName)))
      releases.push(lockStateDirectory(config.stateDir));
    releases.push(await claimNetworkNamespace());
    const connection = openRouteConnection();
    releases.push(() => connection.close());
    const left = findEndpoints(config.stateDir, connection, again);
    if (left !== undefined) return [keepAll(left)];
    return await restore(config, connection, signal);
  } catch (error) {
    if (error instanceof PodwireError && error.code === 'AGENT_RUNNING')
      return [keepAll(`${describeError(error)}; stop the agent and ${again}`)];
    return [failure('the node', error)];
  } finally {
    for (const release of releases.toReversed()) release();
  }
}

const keepAll = (why: string): NodeChange => ({
  action: 'kept',
  what: `the node as the agent left it: ${why}`,
  again: true,
});

const failure = (what: string, error: unknown): NodeChange => ({
  action: 'failed',
  what: `${what}: ${describeError(error)}`,
});

/** Pods without a record are perhaps those of an agent with another state directory. */
function findEndpoints(stateDir: string, connection: NetlinkConnection, again: string): string | undefined {
  const directory = path.join(stateDir, 'endpoints');
  const records = countRecords(directory);
  if (records > 0)
    return `${directory} has ${plural(records, 'record')}; remove the pods, stop the agent and ${again}`;
  const links = listLinks(connection).filter(({ group, kind }) => group === LIVE_GROUP && kind === 'veth');
  if (links.length === 0) return undefined;
  return `${plural(links.length, 'pod link')} on it and no record in ${stateDir}; give --config of the agent, or start and stop the agent, and ${again}`;
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function countRecords(directory: string): number {
  if (!fs.existsSync(directory)) return 0;
  const { records, broken } = openRecordDirectory(directory, resourceKinds).readAll();
  return records.length + broken.length;
}

async function restore(
  config: AgentConfig,
  connection: NetlinkConnection,
  stop: AbortSignal,
): Promise<NodeChange[]> {
  const signal = deadlineSignal(config.deadlines.reconcile, stop);
  const kernel = openKernel(undefined, { programTimeout: config.deadlines.request });
  const errors: NodeChange[] = [];
  const engine = createEngine({
    backends: await openBackends(kernel, config, indexModels(networkModels)),
    onError: (message) => errors.push({ action: 'failed', what: message }),
  });
  try {
    const parameters = await restoreParameters(config.stateDir, readKernelRouter(connection), engine, {
      signal,
    });
    const accept = await stopAccepting(engine, { signal });
    // The packet filter keeps a node that still forwards from doing so for others.
    const rest = hasFailed(parameters) ? [] : await removeAll(engine, { signal });
    const changes = [...parameters, ...accept, ...rest, ...errors];
    return hasFailed(changes) ? changes : [...changes, ...clearState(config.stateDir)];
  } finally {
    await engine.close();
  }
}

const hasFailed = (changes: readonly NodeChange[]): boolean =>
  changes.some(({ action }) => action === 'failed');

async function restoreParameters(
  stateDir: string,
  view: RouterView,
  engine: Engine,
  options: CallOptions,
): Promise<NodeChange[]> {
  const remembered = recallRouter(openStateFiles(stateDir), readBootId());
  const changes: NodeChange[] = [];
  for (const family of [4, 6] as const) {
    const before = remembered[family];
    if (before === undefined) continue;
    const { parameters, kept } = planRestore(before, family, view);
    changes.push(...kept.map((what): NodeChange => ({ action: 'kept', what })));
    try {
      await engine.apply({ owner: 'node', resources: parameters }, options);
      changes.push(
        ...parameters.map((each): NodeChange => ({ action: 'restored', what: resourceKinds.describe(each) })),
      );
    } catch (error) {
      changes.push(failure(`IPv${family} forwarding`, error));
    }
  }
  return changes;
}

async function stopAccepting(engine: Engine, options: CallOptions): Promise<NodeChange[]> {
  try {
    await engine.remove({ owner: 'node', resources: planForwardAccept() }, options);
    return [];
  } catch (error) {
    return [failure("the chain in iptables' FORWARD", error)];
  }
}

/** Everything with Podwire's mark: no owner is left. */
async function removeAll(engine: Engine, options: CallOptions): Promise<NodeChange[]> {
  try {
    const changes = await engine.reconcile([], options);
    await engine.settle();
    return changes.map(({ what, error }) =>
      error === undefined ? { action: 'removed', what } : failure(what, error),
    );
  } catch (error) {
    return [failure('what carries the mark of Podwire', error)];
  }
}

/** Files with the identity of a cluster's member stay, and the directory then too. */
function clearState(stateDir: string): NodeChange[] {
  try {
    for (const name of [routerFile, lockFileName]) fs.rmSync(path.join(stateDir, name), { force: true });
    for (const directory of [path.join(stateDir, 'endpoints'), stateDir]) removeIfEmpty(directory);
    return [];
  } catch (error) {
    return [failure(stateDir, error)];
  }
}

function removeIfEmpty(directory: string): void {
  try {
    fs.rmdirSync(directory);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}
