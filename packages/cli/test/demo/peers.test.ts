import { type ChildProcess, spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import type { OpenLedger } from '../../src/demo/ledger.js';
import type { DemoNamespace } from '../../src/demo/namespaces.js';
import { startPeer } from '../../src/demo/peers.js';
import { makeTemporaryDirectory } from '../temporary.js';

test('a peer that never gets ready keeps nobody who does not want to wait any more', async () => {
  const stop = new AbortController();
  let child: ChildProcess | undefined;
  const silent = (): ChildProcess => {
    child = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    return child;
  };
  const namespace = { name: 'n', inside: silent as DemoNamespace['inside'] } as DemoNamespace;
  const ledger = { current: { directory: makeTemporaryDirectory() }, note: () => undefined };
  const work = startPeer(namespace, { name: 'p', ports: [] }, ledger as unknown as OpenLedger, stop.signal);
  stop.abort(new Error('Ctrl-C'));
  try {
    await expect(work).rejects.toThrow('Ctrl-C');
  } finally {
    child?.kill('SIGKILL');
  }
});
