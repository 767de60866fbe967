/** Leaves the machine as `podwire up` found it, once the agents that it had started have ended. */
import fs from 'node:fs';
import path from 'node:path';
import type { NodeChange } from '@podwire/agent/offline';
import { hasCode } from '@podwire/platform';
import type { Places } from './locate.js';
import { findAgentConfig, removeAgentConfig } from './own-config.js';
import { forgetStarted, type Ground, readNetworkOf } from './started.js';

/**
 * The node first: what is noted of it is among the files. Where something could not be put back all files stay, the logs too, and
 * another call goes on from there. A call that is killed in the middle is no different.
 */
export async function clearUp(places: Places, ground: Ground, signal: AbortSignal): Promise<NodeChange[]> {
  const node = await restoreNetwork(places, ground, signal);
  if (node.every(({ action, again }) => action !== 'failed' && again !== true)) removeFiles(places, ground);
  return node;
}

/** Nothing where the node agent was another's, or lived in another network namespace, which goes with those who made it. */
async function restoreNetwork(places: Places, ground: Ground, signal: AbortSignal): Promise<NodeChange[]> {
  if (ground.network === undefined || ground.network !== readNetworkOf(process.pid)) return [];
  const [{ loadConfig }, { restoreNode }] = await Promise.all([
    import('@podwire/agent'),
    import('@podwire/agent/offline'),
  ]);
  return restoreNode(loadConfig(findAgentConfig(places)), signal, 'podwire down');
}

/** Removes the files that agents keep for the next start. Everything else stays, and the directories that it is in. */
function removeFiles(places: Places, { absent, network }: Ground): void {
  const { embedded, podletState, networkConfig } = places;
  const ofNode = [places.agentSocket, places.agentApi, places.agentLog];
  const files = [
    ...[places.podSocket, places.podletLog, ...(network === undefined ? [] : ofNode)],
    ...[
      path.join(embedded, 'lock'),
      path.join(podletState, 'sources.json'),
      path.join(podletState, 'held.json'),
    ],
    path.join(networkConfig, '10-podwire.conflist'),
  ];
  for (const file of files) fs.rmSync(file, { force: true });
  removeAgentConfig(places);
  const roots = [embedded, podletState, places.networkState, path.dirname(networkConfig), places.podLogs];
  for (const root of roots) pruneEmpty(root);
  fs.rmSync(places.startLock, { force: true });
  forgetStarted(places);
  for (const directory of absent.toReversed()) removeIfEmpty(directory);
}

/** The directories below that hold nothing, and this one if nothing is left of it. */
function pruneEmpty(directory: string): void {
  if (fs.lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of fs.readdirSync(directory)) pruneEmpty(path.join(directory, name));
  removeIfEmpty(directory);
}

function removeIfEmpty(directory: string): void {
  try {
    fs.rmdirSync(directory);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'EBUSY')) throw error;
  }
}
