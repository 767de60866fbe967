import { type ChildProcess, spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import type { OpenRecord } from '../src/record.js';
import type { DemoNamespace } from '../src/namespaces.js';
import { startPeer } from '../src/peers.js';
import { makeTemporaryDirectory } from './support.js';

test('a peer that never gets ready does not delay a caller that gives up', async () => {
  const stop = new AbortController();
  let child: ChildProcess | undefined;
  const silent = (): ChildProcess => {
    child = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    return child;
  };
  const namespace = { name: 'n', inside: silent as DemoNamespace['inside'] } as DemoNamespace;
  const record = { current: { directory: makeTemporaryDirectory() }, note: () => undefined };
  const work = startPeer(namespace, { name: 'p', ports: [] }, record as unknown as OpenRecord, stop.signal);
  stop.abort(new Error('Ctrl-C'));
  try {
    await expect(work).rejects.toThrow('Ctrl-C');
  } finally {
    child?.kill('SIGKILL');
  }
});
