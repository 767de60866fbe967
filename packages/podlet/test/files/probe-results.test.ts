import fs from 'node:fs';
import path from 'node:path';
import type { ContainerStatus, PodStatus } from '@podwire/pod-spec';
import { describe, expect, it, vi } from 'vitest';
import { loadProbeResults, withProbeResults } from '../../src/files/probe-results.js';
import { noSink } from '../../src/sync/sync-context.js';
import { aPod } from '../sync/pods.js';
import { temporaryDirectories } from './temporary.js';

const temporary = temporaryDirectories();
const pod = aPod({ uid: 'a' });
const container: ContainerStatus = {
  name: 'main',
  state: { running: { startedAt: '2026-01-01T12:00:00Z' } },
  lastState: {},
  ready: true,
  started: true,
  restartCount: 0,
  image: '',
  imageID: '',
  containerID: 'c1',
};
const statusWith = (more: Partial<ContainerStatus>): PodStatus => ({
  ...pod.status,
  containerStatuses: [{ ...container, ...more }],
});

/** The root of a pod agent, with the directory of one pod. */
function makeRoot(): { readonly root: string; readonly file: string } {
  const root = temporary();
  const directory = path.join(root, 'pods', 'a');
  fs.mkdirSync(directory, { recursive: true });
  return { root, file: path.join(directory, 'probe-results.json') };
}

const textOf = (file: string): string => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');

describe('results of probes', () => {
  it('are read as they were written last, by the next process', async () => {
    const { root, file } = makeRoot();
    const sink = withProbeResults(noSink, { root }, fail);
    sink.statusChanged(pod, statusWith({ ready: false }));
    sink.statusChanged(pod, statusWith({}));
    await expect.poll(() => textOf(file)).toContain('"ready":true');
    const kept = [{ name: 'main', containerId: 'c1', started: true, ready: true }];
    expect(await loadProbeResults({ root })).toEqual(new Map([['a', kept]]));
    const ended = { terminated: { exitCode: 1, reason: 'Error', containerID: 'c1' } };
    sink.statusChanged(pod, statusWith({ state: ended }));
    sink.statusChanged(pod, statusWith({ containerID: 'c2' }));
    await expect.poll(() => textOf(file)).toContain('"c2"');
  });

  it('are handed on to the sink behind', () => {
    const behind = { ...noSink, statusChanged: vi.fn(), terminated: vi.fn() };
    const sink = withProbeResults(behind, { root: temporary() }, fail);
    sink.statusChanged(pod, pod.status);
    sink.terminated(pod, pod.status);
    expect(behind.statusChanged).toHaveBeenCalledWith(pod, pod.status);
    expect(behind.terminated).toHaveBeenCalledWith(pod, pod.status);
  });

  it('make no directory for a pod that is gone', async () => {
    const root = temporary();
    const sink = withProbeResults(noSink, { root }, fail);
    sink.statusChanged(pod, statusWith({}));
    const { root: other, file } = makeRoot();
    withProbeResults(noSink, { root: other }, fail).statusChanged(pod, statusWith({}));
    await expect.poll(() => textOf(file)).not.toBe('');
    expect(fs.readdirSync(root)).toEqual([]);
  });

  it.each(['', 'null', '{"a":1}', '[{"name":1}]'])('are none where the file has %j', async (text) => {
    const { root, file } = makeRoot();
    fs.writeFileSync(file, text);
    expect(await loadProbeResults({ root })).toEqual(new Map([['a', []]]));
  });

  it('are reported with the name of the pod where they cannot be written', async () => {
    const { root, file } = makeRoot();
    fs.mkdirSync(file);
    const problems: string[] = [];
    const sink = withProbeResults(noSink, { root }, (message) => problems.push(message));
    sink.statusChanged(pod, statusWith({}));
    await expect.poll(() => problems).toHaveLength(1);
    expect(problems[0]).toContain('default/web');
  });
});

function fail(message: string): never {
  throw new Error(message);
}
