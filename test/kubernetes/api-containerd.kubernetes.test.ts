/** A real kube-apiserver 1.20.2 as the source of pods: our pod agent, with containerd 1.6 over CRI v1. */
import { after, before, test } from 'node:test';
import { type Snapshot, untilSameSnapshot } from '@podwire/testkit';
import { defineCommonCases, deleteAll } from './support/api-cases.js';
import { type ApiHost, createApiHost } from './support/api-host.js';

let machine: ApiHost;
let untouched: Snapshot;

before(async () => {
  machine = await createApiHost({ runtime: 'containerd' });
  untouched = await machine.snapshot();
});
after(() => machine?.close());

defineCommonCases(() => machine, 'containerd');

test('when all pods are deleted nothing is left', async () => {
  await deleteAll(machine, ['web', 'after', 'later']);
  await untilSameSnapshot(untouched, () => machine.snapshot(), {
    ignore: [/^routes\/blackhole /, /podlet\/pods$/, /v1\.cri\/\w+$/],
    timeout: 20_000,
  });
});
