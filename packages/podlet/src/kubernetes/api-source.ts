/** Pods that the API server has bound to this node (source `api`). */
import { describeError } from '@podwire/errors';
import type { Clock, PodSource, Snapshot, SourceProblem } from '../contract.js';
import { type Pod, readApiPod } from '@podwire/pod-spec';
import { type ApiObject, type KubernetesClient, runInformer } from '@podwire/kubernetes-client';

export interface ApiSourceOptions {
  readonly client: KubernetesClient;
  readonly node: string;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Every event gives the whole set again; while the server is away nothing is emitted but what is wrong. */
export function createApiSource({ client, node, clock, random }: ApiSourceOptions): PodSource {
  return {
    name: 'api',
    run: (emit, signal) => {
      let known: { pods: readonly Pod[]; problems: readonly SourceProblem[] } | undefined;
      let trouble: SourceProblem | undefined;
      const tell = (): void => emit(snapshotOf(known, trouble));
      return runInformer(
        {
          client,
          path: '/api/v1/pods',
          fieldSelector: `spec.nodeName=${node}`,
          clock,
          random,
          read: readObject,
          onChange: (objects) => {
            known = joinRead([...objects.values()]);
            tell();
          },
          onTrouble: (error) => {
            const before = trouble?.message;
            trouble =
              error === undefined
                ? undefined
                : { source: 'api', origin: 'API server', message: describeError(error) };
            if (trouble?.message !== before) tell();
          },
        },
        signal,
      );
    },
  };
}

/** A server that has never answered leaves us ignorant, which must not look as if there were no pods. */
function snapshotOf(
  known: { pods: readonly Pod[]; problems: readonly SourceProblem[] } | undefined,
  trouble: SourceProblem | undefined,
): Snapshot {
  const problems = [...(known?.problems ?? []), ...(trouble === undefined ? [] : [trouble])];
  return { pods: known?.pods ?? [], problems, ...(known === undefined ? { incomplete: true } : {}) };
}

interface ReadPod {
  readonly pod: Pod;
  readonly problems: readonly SourceProblem[];
}

const joinRead = (all: readonly ReadPod[]) => ({
  pods: all.map(({ pod }) => pod),
  problems: all.flatMap(({ problems }) => problems),
});

/** Fields that Podwire cannot honour are reported, and the pod is taken all the same. */
function readObject(object: ApiObject): ReadPod {
  const { namespace, name } = object.metadata as { namespace?: string; name?: string };
  const { pod, complaints } = readApiPod(object);
  const problems = complaints.map((message) => ({
    source: 'api' as const,
    origin: `pod ${namespace}/${name}`,
    message,
  }));
  return { pod, problems };
}
