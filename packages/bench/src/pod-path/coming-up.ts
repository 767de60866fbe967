/** One pod after the other: from its manifest in the directory until a connection to it is taken. */
import net from 'node:net';
import { inNamespace, openNamespace } from '@podwire/linux';
import type { PodView } from '@podwire/podlet';
import type { PrivateHost } from '@podwire/testkit';
import type { Span } from '@podwire/tracing';
import { placeManifest, port, removeManifest, webPod } from './manifests.js';
import { isReady, type PodAgent } from './pod-agent.js';

export interface ComingUp {
  /** Milliseconds from before the manifest was put there until a connection was taken. */
  readonly reachable: readonly number[];
  /** Milliseconds from there until the pod was ready, outside of all calls to the runtime. */
  readonly ownShare: readonly number[];
}

export async function measureComingUp(
  host: PrivateHost,
  agent: PodAgent,
  counts: { readonly pods: number; readonly warmUp: number },
  signal: AbortSignal,
  progress: (done: number) => void,
): Promise<ComingUp> {
  const reachable: number[] = [];
  const ownShare: number[] = [];
  for (let index = 0; index < counts.warmUp + counts.pods; index += 1) {
    signal.throwIfAborted();
    const one = await bringUp(host, agent, `web-${index}`);
    if (index >= counts.warmUp) {
      reachable.push(one.reachable);
      ownShare.push(one.ownShare);
    }
    progress(index);
  }
  return { reachable, ownShare };
}

async function bringUp(host: PrivateHost, agent: PodAgent, name: string) {
  const called = (pod: PodView): boolean => pod.name === name;
  const begin = performance.now();
  placeManifest(agent.manifests, name, webPod(name));
  const withAddress = await agent.until((pods) =>
    pods.some((pod) => called(pod) && addressOf(pod) !== undefined),
  );
  await connectUntilTaken(host, addressOf(withAddress.find(called)!)!);
  const reachable = performance.now() - begin;
  const ready = (await agent.until((pods) => pods.some((pod) => called(pod) && isReady(pod)))).find(called)!;
  const ownShare = outsideOfCalls(await agent.spans(ready), performance.timeOrigin + begin);
  removeManifest(agent.manifests, name);
  await agent.until((pods) => !pods.some(called));
  return { reachable, ownShare };
}

const addressOf = ({ status }: PodView): string | undefined => status.podIP;

/** The sandbox has its address before the server in it listens: refused connections are tried again at once. */
async function connectUntilTaken(host: PrivateHost, address: string): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await isTaken(host, address))) {
    if (performance.now() > end) throw new Error(`no server accepts connections at ${address}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isTaken(host: PrivateHost, address: string): Promise<boolean> {
  const namespace = openNamespace(host.namespace.path);
  try {
    // The socket is made in the call itself, so it belongs to the host.
    const { socket } = inNamespace(namespace, () => ({ socket: net.connect({ host: address, port }) }));
    return new Promise((resolve) => {
      const finish = (taken: boolean) => () => {
        socket.destroy();
        resolve(taken);
      };
      socket.once('connect', finish(true));
      socket.once('error', finish(false));
    });
  } finally {
    namespace.close();
  }
}

/** Calls that the pod agent makes for a pod, by the names of its spans. */
const calls = new Set([
  ...['RunPodSandbox', 'PodSandboxStatus', 'CreateContainer', 'StartContainer', 'ContainerStatus'],
  ...['EnsureImage', 'ImageStatus', 'PullImage', 'ListPodSandbox', 'ListContainers'],
]);

/** Milliseconds from `begin` to the end of the trace that lie in no call to the runtime; calls may overlap. */
export function outsideOfCalls(spans: readonly Span[], begin: number): number {
  const end = Math.max(...spans.map(({ startedAt, duration }) => startedAt + duration));
  const inside = spans.filter(({ name }) => calls.has(name)).toSorted((a, b) => a.startedAt - b.startedAt);
  let covered = 0;
  let reached = begin;
  for (const { startedAt, duration } of inside) {
    const from = Math.max(reached, startedAt);
    covered += Math.max(0, startedAt + duration - from);
    reached = Math.max(reached, startedAt + duration);
  }
  return end - begin - covered;
}
