import type { FakePlugin } from '@podwire/cni/fake';
import { afterEach, expect, test } from 'vitest';
import { conflist, createHarness, type Harness, makePod, result } from './support/harness.js';

let open: Harness[] = [];
afterEach(async () => {
  for (const harness of open) await harness.close();
  open = [];
});

/** A plugin whose calls end when they are told to. */
async function held() {
  const under: string[] = [];
  const finish = new Map<string, () => void>();
  const plugin: FakePlugin = async ({ command, env }) => {
    const call = `${command} ${env['CNI_CONTAINERID']}`.trim();
    under.push(call);
    await new Promise<void>((resolve) => finish.set(call, resolve));
    under.splice(under.indexOf(call), 1);
    return command === 'ADD' ? { result: result() } : {};
  };
  const harness = createHarness({ plugins: { bridge: plugin } });
  open.push(harness);
  harness.write('1.conflist', conflist('pods', ['bridge'], { cniVersion: '1.1.0' }));
  // STATUS would be held as well.
  harness.write('1.conflist', conflist('pods', ['bridge']));
  const network = await harness.start();
  const until = (...calls: string[]) => expect.poll(() => under.toSorted()).toEqual(calls.toSorted());
  return { harness, network, under, until, end: (call: string) => finish.get(call)?.() };
}

test('twenty tearDowns at once: one DEL', async () => {
  const { harness, network, until, end } = await held();
  const pod = makePod(harness, 'c1');
  const made = network.setUp(pod);
  await until('ADD c1');
  end('ADD c1');
  await made;
  const all = Promise.all(Array.from({ length: 20 }, () => network.tearDown(pod)));
  await until('DEL c1');
  end('DEL c1');
  await all;
  expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1']);
});

test('calls for one pod are serial, also for its different sandboxes; other pods go their way', async () => {
  const { harness, network, until, end } = await held();
  const one = network.setUp(makePod(harness, 'c1', { name: 'web' }));
  await until('ADD c1');
  const two = network.setUp(makePod(harness, 'c2', { name: 'web' }));
  const other = network.setUp(makePod(harness, 'c3', { name: 'db' }));
  const elsewhere = network.setUp(makePod(harness, 'c4', { name: 'web', namespace: 'test' }));
  await until('ADD c1', 'ADD c3', 'ADD c4');
  end('ADD c1');
  await until('ADD c2', 'ADD c3', 'ADD c4');
  for (const id of ['c2', 'c3', 'c4']) end(`ADD ${id}`);
  await Promise.all([one, two, other, elsewhere]);
});

test('a call that waits behind a hanging one can be given up', async () => {
  const { harness, network, until, end } = await held();
  const pod = makePod(harness, 'c1');
  const first = network.setUp(pod);
  await until('ADD c1');
  const abort = new AbortController();
  const second = network.tearDown(pod, { signal: abort.signal });
  abort.abort(new Error('no patience'));
  await expect(second).rejects.toMatchObject({ code: 'NETWORK_DETACH_FAILED', message: /no patience/ });
  end('ADD c1');
  await first;
});

test('garbage collection waits for what is under way and holds back what comes', async () => {
  const { harness, network, under, until, end } = await held();
  const first = network.setUp(makePod(harness, 'c1'));
  await until('ADD c1');
  const collecting = network.collectGarbage(['c2']);
  const second = network.setUp(makePod(harness, 'c2'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(under).toEqual(['ADD c1']);
  end('ADD c1');
  await first;
  // Attached, but not among the living.
  await until('DEL c1');
  end('DEL c1');
  await collecting;
  await until('ADD c2');
  end('ADD c2');
  await second;
  expect(harness.trail()).toEqual(['ADD bridge c1', 'DEL bridge c1', 'ADD bridge c2']);
});
