import type { CriRuntime, PodSandboxStatusResponse } from '@podwire/cri';
import { createFakeRuntime } from '@podwire/cri/fake';
import { describe, expect, it } from 'vitest';
import { RuntimeView } from '../../src/runtime/runtime-view.js';

const signal = new AbortController().signal;

const configOf = (uid: string, node: string) => ({
  metadata: { name: uid, namespace: 'default', uid, attempt: 0 },
  hostname: '',
  logDirectory: '',
  portMappings: [],
  labels: {
    'io.kubernetes.pod.uid': uid,
    'io.kubernetes.pod.name': uid,
    'io.kubernetes.pod.namespace': 'default',
    'podwire.io/node': node,
  },
  annotations: {},
});

const viewOf = (runtime: CriRuntime) =>
  new RuntimeView({ runtime, node: 'node1', concurrentStatus: 4, callTimeoutMs: 1_000 });

/** Holds back answers until the test lets them go. */
function createGate<T>() {
  const waiting: (() => void)[] = [];
  return {
    pass: (answer: Promise<T>) =>
      new Promise<T>((resolve, reject) => waiting.push(() => void answer.then(resolve, reject))),
    open: () => waiting.splice(0).forEach((go) => go()),
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the view of the runtime', () => {
  it('has what is ours only', async () => {
    const runtime = createFakeRuntime();
    await runtime.runPodSandbox({ config: configOf('ours', 'node1'), runtimeHandler: '' });
    await runtime.runPodSandbox({ config: configOf('theirs', 'node2'), runtimeHandler: '' });
    const view = viewOf(runtime);
    expect((await view.relist(signal)).changed).toEqual(new Set(['ours']));
    expect([...view.uids()]).toEqual(['ours']);
    expect(view.labels('ours')).toEqual({ uid: 'ours', name: 'ours', namespace: 'default' });
    expect((await view.relist(signal)).changed).toEqual(new Set());
  });

  it('ignores foreign pods, even when asked for them', async () => {
    const runtime = createFakeRuntime();
    const { podSandboxId } = await runtime.runPodSandbox({
      config: configOf('theirs', 'node2'),
      runtimeHandler: '',
    });
    const view = viewOf(runtime);
    await view.refreshSandbox(podSandboxId, signal);
    expect([...view.uids()]).toEqual([]);
  });

  it('is not set back by the answer to an older question', async () => {
    const runtime = createFakeRuntime();
    const gate = createGate<PodSandboxStatusResponse>();
    let slow = true;
    const view = viewOf({
      ...runtime,
      podSandboxStatus: (request, options) => {
        const answer = runtime.podSandboxStatus(request, options);
        return slow ? gate.pass(answer) : answer;
      },
    });
    const { podSandboxId } = await runtime.runPodSandbox({
      config: configOf('pod', 'node1'),
      runtimeHandler: '',
    });
    const old = view.refreshSandbox(podSandboxId, signal);
    await settle();
    await runtime.stopPodSandbox({ podSandboxId });
    slow = false;
    await view.refreshSandbox(podSandboxId, signal);
    gate.open();
    await old;
    expect(view.observed('pod').sandboxes[0]?.ready).toBe(false);
  });

  it('does not bring back what was removed meanwhile', async () => {
    const runtime = createFakeRuntime();
    const gate = createGate<PodSandboxStatusResponse>();
    const view = viewOf({
      ...runtime,
      podSandboxStatus: (request, options) => gate.pass(runtime.podSandboxStatus(request, options)),
    });
    const { podSandboxId } = await runtime.runPodSandbox({
      config: configOf('pod', 'node1'),
      runtimeHandler: '',
    });
    const old = view.refreshSandbox(podSandboxId, signal);
    await settle();
    view.forget(podSandboxId);
    gate.open();
    await old;
    expect(view.observed('pod').sandboxes).toEqual([]);
  });

  it('keeps what came after a listing had begun', async () => {
    const runtime = createFakeRuntime();
    const gate = createGate<Awaited<ReturnType<CriRuntime['listPodSandbox']>>>();
    const view = viewOf({
      ...runtime,
      listPodSandbox: (request, options) => gate.pass(runtime.listPodSandbox(request, options)),
    });
    const relisting = view.relist(signal);
    await settle();
    const { podSandboxId } = await runtime.runPodSandbox({
      config: configOf('pod', 'node1'),
      runtimeHandler: '',
    });
    await view.refreshSandbox(podSandboxId, signal);
    gate.open();
    expect((await relisting).vanished).toEqual([]);
    expect(view.observed('pod').sandboxes).toHaveLength(1);
  });

  it('reports sandboxes that another client has removed, not our own', async () => {
    const runtime = createFakeRuntime();
    const view = viewOf(runtime);
    const { podSandboxId: one } = await runtime.runPodSandbox({
      config: configOf('one', 'node1'),
      runtimeHandler: '',
    });
    const { podSandboxId: two } = await runtime.runPodSandbox({
      config: configOf('two', 'node1'),
      runtimeHandler: '',
    });
    await view.relist(signal);
    await runtime.removePodSandbox({ podSandboxId: one });
    await runtime.removePodSandbox({ podSandboxId: two });
    view.forget(two);
    const { vanished, changed } = await view.relist(signal);
    expect(vanished).toEqual([{ id: one, uid: 'one' }]);
    expect(changed).toEqual(new Set(['one']));
  });
});
