/** A pod agent inside a private host, and its pods as they change. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalApi, openLocalApi } from '@podwire/local-api';
import type { PodChange, PodView } from '@podwire/podlet';
import type { PrivateHost, RunningProcess } from '@podwire/testkit';
import type { Span } from '@podwire/tracing';

export interface PodAgent {
  readonly pid: number;
  /** Where manifests go. */
  readonly manifests: string;
  readonly api: LocalApi;
  /** Resolves as soon as the pods are so. @throws Error after a minute */
  until(fits: (pods: readonly PodView[]) => boolean): Promise<readonly PodView[]>;
  spans(pod: PodView): Promise<readonly Span[]>;
  stop(): Promise<void>;
}

export interface PodAgentOptions {
  readonly host: PrivateHost;
  readonly name: string;
  /** The command line up to its options. */
  readonly entry: readonly string[];
  readonly words: readonly string[];
}

export async function startPodAgent({ host, name, entry, words }: PodAgentOptions): Promise<PodAgent> {
  const directory = path.join(host.directory, name);
  const manifests = path.join(directory, 'manifests');
  fs.mkdirSync(manifests, { recursive: true });
  const argv = [...entry, '--directory', directory, '--manifests', manifests, ...words];
  const running = host.start(argv, { outputFile: path.join(directory, 'log') });
  const api = openLocalApi({
    socket: path.join(directory, 'podlet.sock'),
    peer: { name: 'pod agent', unreachable: 'PODLET_UNREACHABLE' },
  });
  await untilAnswers(api, running);
  const board = watch(api);
  return {
    pid: running.pid,
    manifests,
    api,
    until: (fits) => board.until(fits),
    spans: async ({ namespace, name: pod }) =>
      (await api.get<{ spans: Span[] }>(`/v1/trace/${namespace}/${pod}`)).spans,
    stop: async () => {
      board.stop();
      await running.stop();
    },
  };
}

async function untilAnswers(api: LocalApi, running: RunningProcess): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await api.get('/v1/status').catch((error: unknown) => error);
    if (!(answer instanceof Error)) return;
    if (attempt === 1_000)
      throw new Error(`the pod agent (${running.pid}) does not answer`, { cause: answer });
    await sleep(10);
  }
}

/** Follows the pod agent's own stream of changes: nothing is asked again and again while something is measured. */
function watch(api: LocalApi) {
  const pods = new Map<string, PodView>();
  const waiting = new Set<() => void>();
  const stop = new AbortController();
  const take = (change: PodChange): void => {
    if (change.kind === 'all') for (const pod of change.pods) pods.set(pod.uid, pod);
    if (change.kind === 'pod') pods.set(change.pod.uid, change.pod);
    if (change.kind === 'gone') pods.delete(change.uid);
    for (const wake of waiting) wake();
  };
  void (async () => {
    for await (const change of api.lines<PodChange>('/v1/watch', stop.signal)) take(change);
  })().catch(() => undefined);
  return {
    stop: () => stop.abort(),
    until: (fits: (all: readonly PodView[]) => boolean) =>
      new Promise<readonly PodView[]>((resolve, reject) => {
        const deadline = setTimeout(() => finish(new Error('the pods are not so after a minute')), 60_000);
        const finish = (error?: Error): void => {
          clearTimeout(deadline);
          waiting.delete(look);
          if (error === undefined) resolve([...pods.values()]);
          else reject(error);
        };
        const look = (): void => {
          if (fits([...pods.values()])) finish();
        };
        waiting.add(look);
        look();
      }),
  };
}

export const isReady = ({ status }: PodView): boolean =>
  status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
