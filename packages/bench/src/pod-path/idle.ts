/** The pod agent alone, on a runtime in memory: how soon it makes its first call, and what pods cost that do nothing. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateHost, RunningProcess } from '@podwire/testkit';
import { processorTime, residentBytes } from '../process-cost.js';
import { placeManifest, webPod } from './manifests.js';
import { isReady, startPodAgent } from './pod-agent.js';

export interface IdleFigures {
  readonly pods: number;
  readonly idleSeconds: number;
  /** Share of one core. */
  readonly idleShare: number;
  readonly residentBytes: number;
  /** Milliseconds from starting the process to its first call, of several starts. */
  readonly firstCall: readonly number[];
}

const starts = 5;

export async function measureIdlePods(
  host: PrivateHost,
  entry: readonly string[],
  { pods, idleSeconds }: { readonly pods: number; readonly idleSeconds: number },
  signal: AbortSignal,
): Promise<IdleFigures> {
  const firstCall: number[] = [];
  for (let index = 0; index < starts; index += 1) firstCall.push(await measureFirstCall(host, entry, index));
  const runtime = await startFakeRuntime(host, 'idle');
  const agent = await startPodAgent({ host, name: 'idle', entry, words: ['--runtime', runtime.socket] });
  for (let index = 0; index < pods; index += 1)
    placeManifest(agent.manifests, `p${index}`, webPod(`p${index}`));
  await agent.until((all) => all.length === pods && all.every(isReady));
  // The work left over from the start is not the cost of being idle.
  await sleep(5_000, undefined, { signal });
  const before = processorTime(agent.pid);
  await sleep(idleSeconds * 1_000, undefined, { signal });
  const idleShare = (processorTime(agent.pid) - before) / (idleSeconds * 1_000);
  const resident = residentBytes(agent.pid);
  await agent.stop();
  await runtime.process.stop();
  return { pods, idleSeconds, idleShare, residentBytes: resident, firstCall };
}

async function measureFirstCall(host: PrivateHost, entry: readonly string[], index: number): Promise<number> {
  const runtime = await startFakeRuntime(host, `start${index}`);
  const begin = Date.now();
  const words = ['--runtime', runtime.socket];
  const agent = await startPodAgent({ host, name: `start${index}`, entry, words });
  const at = Number(/called (\d+)/.exec(runtime.process.stdout())?.[1]);
  await agent.stop();
  await runtime.process.stop();
  return at - begin;
}

async function startFakeRuntime(
  host: PrivateHost,
  name: string,
): Promise<{ readonly socket: string; readonly process: RunningProcess }> {
  const socket = path.join(host.directory, `${name}.sock`);
  const file = path.join(import.meta.dirname, 'fake-runtime.js');
  const running = host.start([process.execPath, file, socket]);
  await running.waitForOutput(/serving/);
  return { socket, process: running };
}
