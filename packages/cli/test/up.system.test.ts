/** `podwire up` twice at the same moment, as scripts do it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { serveCri } from '@podwire/cri';
import { createFakeRuntime } from '@podwire/cri/fake';
import { endProcesses } from '@podwire/linux';
import { bringUp } from '../src/pods/bring-up.js';
import { openPodApi, placesIn } from '../src/pods/locate.js';
import { readStarted } from '../src/pods/started.js';
import type { Progress } from '../src/render/progress.js';

test('of two calls at once one starts the pod agent, and it is known for podwire down', async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-up-'));
  const runtime = path.join(directory, 'cri.sock');
  const server = await serveCri(createFakeRuntime(), { socket: runtime });
  const places = placesIn(directory);
  const steps: string[] = [];
  const progress: Progress = {
    show: () => undefined,
    step: (what, work) => (steps.push(typeof what === 'string' ? what : what.done), work()),
    end: () => undefined,
  };
  const { signal } = new AbortController();
  try {
    const call = { directory, places, runtime, more: [], progress, signal };
    await Promise.all([bringUp(call), bringUp(call), bringUp(call)]);
    assert.deepEqual(steps, ['pod agent started (runtime cri)']);
    const { pid } = await openPodApi(places.podSocket).get<{ pid: number }>('/v1/status');
    assert.equal(readStarted(places).podlet?.pid, pid);
  } finally {
    await endProcesses(Object.values(readStarted(places)));
    await server.close(0);
    fs.rmSync(directory, { recursive: true, force: true });
  }
});
