/** Promises of every PodNetwork, as cases that any test runner can run. */
import assert from 'node:assert/strict';
import type { PodAttachment, PodNetwork } from '@podwire/pod-network';

export interface Subject {
  readonly network: PodNetwork;
  /** A new sandbox of the pod, in a namespace of its own. */
  readonly makePod: (id: string, more?: Partial<PodAttachment>) => PodAttachment;
  /** Makes the next setUp or tearDown fail. */
  readonly failNext: (verb: 'setUp' | 'tearDown') => void;
  /** Takes the network away, for a subject that has had none yet. */
  readonly withoutNetwork?: () => Promise<Subject>;
  readonly close: () => Promise<void>;
}

export interface ComplianceCase {
  readonly name: string;
  readonly run: (subject: Subject) => Promise<void>;
}

const detachmentOf = ({ namespace, name, sandboxId, netns }: PodAttachment) => ({
  ...{ namespace, name, sandboxId, netns },
});

export const complianceCases: readonly ComplianceCase[] = [
  {
    name: 'a sandbox has addresses from setUp to tearDown',
    run: async ({ network, makePod }) => {
      const pod = makePod('a');
      assert.equal(await network.addresses(pod.sandboxId), undefined);
      const { addresses, network: name } = await network.setUp(pod);
      assert.ok(addresses.length > 0);
      assert.ok(addresses.every((address) => !address.includes('/')));
      assert.notEqual(name, '');
      assert.deepEqual(await network.addresses(pod.sandboxId), addresses);
      await network.tearDown(detachmentOf(pod));
      assert.equal(await network.addresses(pod.sandboxId), undefined);
    },
  },
  {
    name: 'different sandboxes have different addresses',
    run: async ({ network, makePod }) => {
      const pods = ['a', 'b', 'c'].map((id) => makePod(id));
      const made = await Promise.all(pods.map((pod) => network.setUp(pod)));
      const all = made.flatMap(({ addresses }) => addresses);
      assert.equal(new Set(all).size, all.length);
      await Promise.all(pods.map((pod) => network.tearDown(detachmentOf(pod))));
    },
  },
  {
    name: 'tearDown of what was never set up, and again, succeeds',
    run: async ({ network, makePod }) => {
      const pod = makePod('a');
      await network.tearDown(detachmentOf(pod));
      await network.setUp(pod);
      for (let count = 0; count < 3; count++) await network.tearDown(detachmentOf(pod));
      await network.tearDown({ namespace: '', name: '', sandboxId: 'nobody' });
    },
  },
  {
    name: 'a failed setUp leaves nothing, and the sandbox can be set up again',
    run: async ({ network, makePod, failNext }) => {
      const pod = makePod('a');
      failNext('setUp');
      await assert.rejects(network.setUp(pod), { name: 'PodwireError', code: 'NETWORK_ATTACH_FAILED' });
      assert.equal(await network.addresses(pod.sandboxId), undefined);
      await network.setUp(pod);
      await network.tearDown(detachmentOf(pod));
    },
  },
  {
    name: 'a failed tearDown keeps the addresses, and is repeated',
    run: async ({ network, makePod, failNext }) => {
      const pod = makePod('a');
      const { addresses } = await network.setUp(pod);
      failNext('tearDown');
      await assert.rejects(network.tearDown(detachmentOf(pod)), {
        name: 'PodwireError',
        code: 'NETWORK_DETACH_FAILED',
      });
      assert.deepEqual(await network.addresses(pod.sandboxId), addresses);
      await network.tearDown(detachmentOf(pod));
      assert.equal(await network.addresses(pod.sandboxId), undefined);
    },
  },
  {
    name: 'garbage is what is not alive',
    run: async ({ network, makePod }) => {
      const [a, b] = [makePod('a'), makePod('b')];
      await network.setUp(a);
      const { addresses } = await network.setUp(b);
      await network.collectGarbage([b.sandboxId]);
      assert.equal(await network.addresses(a.sandboxId), undefined);
      assert.deepEqual(await network.addresses(b.sandboxId), addresses);
      await network.collectGarbage([]);
      assert.equal(await network.addresses(b.sandboxId), undefined);
    },
  },
  {
    name: 'a signal that is aborted already: nothing is begun',
    run: async ({ network, makePod }) => {
      const pod = makePod('a');
      const signal = AbortSignal.abort(new Error('too late'));
      await assert.rejects(network.setUp(pod, { signal }), { code: 'NETWORK_ATTACH_FAILED' });
      await assert.rejects(network.tearDown(detachmentOf(pod), { signal }), {
        code: 'NETWORK_DETACH_FAILED',
      });
      assert.equal(await network.addresses(pod.sandboxId), undefined);
    },
  },
  {
    name: 'with a network it is ready, and explains which',
    run: async ({ network }) => {
      assert.deepEqual(network.status(), { ready: true, reason: '', message: '' });
      const choice = await network.explain();
      assert.equal(choice.network?.kept, false);
      assert.ok(choice.network.plugins.length > 0);
      assert.deepEqual(choice.status, network.status());
    },
  },
  {
    name: 'without a network it says so, refuses setUp, and detaches nevertheless',
    run: async ({ withoutNetwork }) => {
      if (withoutNetwork === undefined) return;
      const { network, makePod } = await withoutNetwork();
      const status = network.status();
      assert.equal(status.ready, false);
      assert.equal(status.reason, 'NetworkPluginNotReady');
      assert.notEqual(status.message, '');
      const pod = makePod('a');
      await assert.rejects(network.setUp(pod), { code: 'NETWORK_NOT_READY', message: status.message });
      await network.tearDown(detachmentOf(pod));
      assert.equal((await network.explain()).network, undefined);
    },
  },
  {
    name: 'after close it refuses; close waits for what is under way',
    run: async ({ network, makePod }) => {
      const pod = makePod('a');
      let attached = false;
      const attaching = network.setUp(pod).then(() => (attached = true));
      // One turn of the event loop: the call has begun.
      await new Promise((resolve) => setImmediate(resolve));
      await network.close();
      assert.equal(attached, true);
      await attaching;
      await assert.rejects(network.setUp(makePod('b')), { code: 'NETWORK_NOT_READY' });
      await network.close();
    },
  },
];
