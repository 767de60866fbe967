/** Faults of manifests, while all other pods go on. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { webPod } from './support/manifests.js';
import type { PodView } from '@podwire/podlet';
import { createPodMachine, type PodMachine } from './support/pod-machine.js';

let machine: PodMachine;
before(async () => {
  machine = await createPodMachine({ name: 'man' });
});
afterEach(() => machine.assertNothingLeft());
after(() => machine.close());

test('a broken manifest among good ones is told of, and only it is missing', async () => {
  machine.write('a.json', webPod('a'));
  machine.write('broken.yaml', 'kind: Pod\nmetadata: {name: broken\n');
  machine.write('invalid.json', { ...webPod('invalid'), spec: { containers: [] } });
  machine.write('z.json', webPod('z'));
  await machine.untilServing('a');
  await machine.untilServing('z');
  await machine.until('both problems', (pods, { problems }) => {
    const origins = problems.map(({ origin }) => origin.replace(/^.*\//, ''));
    return pods.length === 2 && ['broken.yaml', 'invalid.json'].every((name) => origins.includes(name));
  });

  // A running pod whose manifest becomes unreadable goes on.
  machine.write('a.json', '{');
  await machine.until('the new problem', (_pods, { problems }) => problems.length === 3);
  await machine.untilServing('a');

  machine.write('broken.yaml', webPod('repaired'));
  await machine.untilServing('repaired');
  for (const file of ['a.json', 'broken.yaml', 'invalid.json', 'z.json']) machine.drop(file);
  await machine.untilGone();
});

test('a copy of a manifest leaves its pod alone, which stays until the last of the two is gone', async () => {
  machine.write('one.json', webPod('twin'));
  const first = await machine.untilServing('twin');
  machine.write('two.json', webPod('twin'));
  await machine.until('the twin is told of', (_pods, { problems }) => problems.length === 1);
  assertSame(await machine.untilServing('twin'), first);

  machine.drop('one.json');
  await machine.until('the problem is over', (_pods, { problems }) => problems.length === 0);
  assertSame(await machine.untilServing('twin'), first);
  assert.deepEqual(await machine.addresses(), [first.status.podIP]);
  machine.drop('two.json');
  await machine.untilGone();
});

test('of two files with the same namespace and name the first one’s pod runs, and the other is told of', async () => {
  machine.write('one.json', webPod('same'));
  const first = await machine.untilServing('same');
  machine.write('two.json', webPod('same', {}, { labels: { other: 'yes' } }));
  const isTold = (text: string): boolean => /same/.test(text);
  await machine.until('the other one is told of', (_pods, { problems }) =>
    problems.some(({ message }) => isTold(message)),
  );
  assertSame(await machine.untilServing('same'), first);

  // The other one takes the name over, and has no address until the first one has given its back.
  machine.drop('one.json');
  await machine.until('the other one is there', (pods) => pods.length === 1 && pods[0]?.uid !== first.uid);
  const { status } = await machine.untilServing('same');
  assert.deepEqual(await machine.addresses(), [status.podIP]);
  machine.drop('two.json');
  await machine.untilGone();
});

/** The same pod in the same sandbox: nothing was begun anew. */
function assertSame(now: PodView, before: PodView): void {
  assert.deepEqual([now.uid, now.sandboxId], [before.uid, before.sandboxId]);
}

test('an edited static pod is another pod: the old one goes with its address, then the new one comes', async () => {
  machine.write('edited.json', webPod('edited'));
  const old = await machine.untilServing('edited');
  const changed = webPod('edited', { hostname: 'changed' });
  machine.write('edited.json', changed);
  await machine.until('another uid', (pods) => pods.length === 1 && pods[0]?.uid !== old.uid);
  const next = await machine.untilServing('edited');
  assert.deepEqual(await machine.addresses(), [next.status.podIP]);
  assert.notEqual(next.sandboxId, old.sandboxId);
  machine.drop('edited.json');
  await machine.untilGone();
});

test('the same name again while the old one still ends: the new one begins when it is gone', async () => {
  const slow = `trap 'sleep 3; exit 0' TERM; /bin/busybox sleep 100000 & while :; do wait; done`;
  const container = { name: 'slow', image: 'podwire.test/busybox:1', imagePullPolicy: 'Never' };
  const stubborn = webPod('again', {
    terminationGracePeriodSeconds: 30,
    containers: [{ ...container, command: ['/bin/busybox', 'sh', '-c', slow] }],
  });
  machine.write('again.json', stubborn);
  const [old] = await machine.until(
    'the stubborn one runs',
    ([one]) => one?.stage === 'running' && one.status.phase === 'Running',
  );
  machine.write('again.json', webPod('again'));
  const most = { addresses: 0, both: false };
  const look = async (): Promise<void> => {
    most.addresses = Math.max(most.addresses, (await machine.addresses()).length);
  };
  const looks: Promise<void>[] = [];
  await machine.until('the new one runs and the old one is gone', (pods) => {
    looks.push(look());
    const isOldThere = pods.some(({ uid, sandboxId }) => uid === old?.uid && sandboxId !== undefined);
    const isNewThere = pods.some(({ uid, sandboxId }) => uid !== old?.uid && sandboxId !== undefined);
    most.both ||= isOldThere && isNewThere;
    return isNewThere && pods.length === 1;
  });
  await Promise.all(looks);
  await machine.untilServing('again');
  assert.deepEqual(most, { addresses: 1, both: false });
  machine.drop('again.json');
  await machine.untilGone();
});
