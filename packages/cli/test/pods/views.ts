import type { PodView } from '@podwire/podlet';

type Container = PodView['containers'][number];

export function container(name: string, more: Partial<Container> = {}): Container {
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  const rest = { lastState: {}, ready: true, started: true, restartCount: 0, image: 'i', imageID: 'i' };
  return { name, state, ...rest, containerID: `x://${name}`, logPath: `/logs/${name}/0.log`, ...more };
}

/** A pod that is ready. */
export function podView(
  name: string,
  more: Partial<PodView> = {},
  status: Partial<PodView['status']> = {},
): PodView {
  const containers = more.containers ?? [container('main')];
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    source: 'file',
    origin: `/pods/${name}.yaml`,
    stage: 'running',
    events: [],
    ...more,
    containers,
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      podIPs: [{ ip: '10.0.0.1' }],
      startTime: '2026-01-01T00:00:00Z',
      initContainerStatuses: [],
      containerStatuses: containers,
      ...status,
    },
  };
}
