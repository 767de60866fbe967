import { type Container, ContainerState, type CriRuntime, PodSandboxState } from '@podwire/cri';
import type { FakeRuntime } from '@podwire/cri/fake';

/** Watches the calls of a podlet, and says what must never happen. */
export interface Watchdog {
  wrap(runtime: CriRuntime): CriRuntime;
  readonly violations: string[];
}

const podOf = ({ labels }: Pick<Container, 'labels'>) =>
  `${labels['io.kubernetes.pod.namespace']}/${labels['io.kubernetes.pod.name']}`;
const uidOf = ({ labels }: Pick<Container, 'labels'>) => labels['io.kubernetes.pod.uid'] ?? '';
const nameOf = ({ labels }: Pick<Container, 'labels'>) => labels['io.kubernetes.container.name'] ?? '';

export function createWatchdog(): Watchdog {
  const violations: string[] = [];
  const stopped = new Set<string>();
  return {
    violations,
    wrap: (runtime) => ({
      ...runtime,
      async startContainer(request, options) {
        const answer = runtime.startContainer(request, options);
        await answer.catch(() => undefined);
        violations.push(...(await findDoubles(runtime)));
        return answer;
      },
      stopPodSandbox(request, options) {
        stopped.add(request.podSandboxId);
        return runtime.stopPodSandbox(request, options);
      },
      removePodSandbox(request, options) {
        if (!stopped.has(request.podSandboxId))
          violations.push(`${request.podSandboxId} removed, never stopped`);
        return runtime.removePodSandbox(request, options);
      },
    }),
  };
}

async function findDoubles(runtime: CriRuntime): Promise<string[]> {
  const { containers } = await runtime.listContainers({});
  const running = containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  return running.flatMap((one, index) =>
    running.slice(index + 1).flatMap((other) => {
      if (podOf(one) !== podOf(other)) return [];
      if (uidOf(one) !== uidOf(other)) return [`two generations of ${podOf(one)} run at once`];
      return nameOf(one) === nameOf(other) ? [`${podOf(one)} ${nameOf(one)} runs twice`] : [];
    }),
  );
}

/** State of the runtime, in few words: `uid attempt READY name:attempt …`, sorted. */
export async function describeRuntime(runtime: FakeRuntime): Promise<string[]> {
  const { items } = await runtime.listPodSandbox({});
  const { containers } = await runtime.listContainers({});
  return items
    .map((sandbox) => {
      const running = containers
        .filter((one) => one.podSandboxId === sandbox.id && one.state === ContainerState.CONTAINER_RUNNING)
        .map(nameOf)
        .sort();
      const state = sandbox.state === PodSandboxState.SANDBOX_READY ? 'ready' : 'stopped';
      return [sandbox.metadata?.uid, state, ...running].join(' ');
    })
    .sort();
}
