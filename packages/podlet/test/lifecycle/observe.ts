import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../src/lifecycle/observed.js';
import { newestFirst } from '../../src/lifecycle/observed.js';

let serial = 0;

export function sandbox(more: Partial<ObservedSandbox> = {}): ObservedSandbox {
  const attempt = more.attempt ?? 0;
  return {
    id: `sandbox-${attempt}`,
    attempt,
    ready: true,
    createdAt: 1_000 + attempt,
    hostNetwork: false,
    addresses: ['10.0.0.1'],
    ...more,
  };
}

export function instance(name: string, more: Partial<ObservedContainer> = {}): ObservedContainer {
  const attempt = more.attempt ?? 0;
  return {
    id: `${name}-${attempt}-${(serial += 1)}`,
    name,
    sandboxId: 'sandbox-0',
    attempt,
    state: 'running',
    createdAt: 2_000 + attempt,
    startedAt: 2_000 + attempt,
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'example.test/web:1',
    imageRef: 'sha256:1',
    logPath: '',
    ...more,
  };
}

export function exited(
  name: string,
  exitCode: number,
  more: Partial<ObservedContainer> = {},
): ObservedContainer {
  return instance(name, { state: 'exited', exitCode, finishedAt: 9_000, ...more });
}

export function observed(
  sandboxes: readonly ObservedSandbox[],
  containers: readonly ObservedContainer[] = [],
): ObservedPod {
  return { sandboxes: [...sandboxes].sort(newestFirst), containers: [...containers].sort(newestFirst) };
}
