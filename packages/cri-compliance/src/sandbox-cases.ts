import assert from 'node:assert/strict';
import { NamespaceMode, type PodSandboxFilter, PodSandboxState } from '@podwire/cri';
import type { CaseContext, ComplianceCase } from './target.js';
import {
  assertRecent,
  assertRefused,
  sandboxConfig,
  sandboxStatus,
  uniqueName,
  unknownId,
  withSandbox,
} from './tools.js';

const { SANDBOX_READY, SANDBOX_NOTREADY } = PodSandboxState;

const list = async ({ runtime }: CaseContext, filter?: Partial<PodSandboxFilter>): Promise<string[]> => {
  const whole = filter && { id: '', labelSelector: {}, ...filter };
  return (await runtime.listPodSandbox({ filter: whole })).items.map(({ id }) => id);
};

export const sandboxCases: readonly ComplianceCase[] = [
  {
    title: 'a sandbox is ready when RunPodSandbox answers, and keeps what it was given',
    needs: [],
    run: (context) =>
      withSandbox(
        context,
        { labels: { app: 'web', tier: 'front' }, annotations: { 'podwire.test/a': 'x y=z' } },
        async ({ id, config }) => {
          const status = await sandboxStatus(context, id);
          assert.equal(status.id, id);
          assert.equal(status.state, SANDBOX_READY);
          assert.deepEqual({ ...status.metadata }, { ...config.metadata });
          assert.deepEqual({ ...status.labels }, config.labels);
          assert.deepEqual({ ...status.annotations }, config.annotations);
          assertRecent(status.createdAt, 'created_at');
          const { items } = await context.runtime.listPodSandbox({});
          const item = items.find((each) => each.id === id);
          assert.deepEqual({ ...item?.metadata }, { ...config.metadata });
          assert.deepEqual({ ...item?.labels }, config.labels);
          assert.deepEqual({ ...item?.annotations }, config.annotations);
          assert.equal(item?.createdAt, status.createdAt);
        },
      ),
  },
  {
    title: 'lists of sandboxes are filtered by id, state and labels, and by all of them together',
    needs: [],
    run: async (context) => {
      const label = uniqueName('label');
      await withSandbox(context, { labels: { label, which: 'one' } }, (one) =>
        withSandbox(context, { labels: { label, which: 'two' } }, async (two) => {
          await context.runtime.stopPodSandbox({ podSandboxId: two.id });
          const both = await list(context, { labelSelector: { label } });
          assert.deepEqual(both.sort(), [one.id, two.id].sort());
          assert.deepEqual(await list(context, { id: one.id }), [one.id]);
          assert.deepEqual(await list(context, { labelSelector: { label, which: 'two' } }), [two.id]);
          const inState = (state: PodSandboxState) =>
            list(context, { labelSelector: { label }, state: { state } });
          assert.deepEqual(await inState(SANDBOX_READY), [one.id]);
          assert.deepEqual(await inState(SANDBOX_NOTREADY), [two.id]);
          assert.deepEqual(await list(context, { id: one.id, labelSelector: { which: 'two' } }), []);
          assert.deepEqual(await list(context, { id: unknownId }), []);
        }),
      );
    },
  },
  {
    title: 'StopPodSandbox answers well as often as it is asked',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async ({ id }) => {
        for (const _ of [1, 2, 3]) await context.runtime.stopPodSandbox({ podSandboxId: id });
        assert.equal((await sandboxStatus(context, id)).state, SANDBOX_NOTREADY);
      }),
  },
  {
    title: 'StopPodSandbox answers well twenty times at once',
    needs: ['stops at once'],
    run: (context) =>
      withSandbox(context, {}, async ({ id }) => {
        const stop = () => context.runtime.stopPodSandbox({ podSandboxId: id });
        await Promise.all(Array.from({ length: 20 }, stop));
        assert.equal((await sandboxStatus(context, id)).state, SANDBOX_NOTREADY);
      }),
  },
  {
    title: 'RemovePodSandbox removes a sandbox that was not stopped, and answers well a second time',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async ({ id }) => {
        const remove = () => context.runtime.removePodSandbox({ podSandboxId: id });
        await remove();
        await remove();
        assert.equal((await list(context)).includes(id), false);
        await assertRefused(sandboxStatus(context, id), 'NOT_FOUND');
      }),
  },
  {
    title: 'unknown sandboxes are stopped without an error',
    needs: ['stop of unknown'],
    run: async ({ runtime }) => {
      await runtime.stopPodSandbox({ podSandboxId: unknownId });
    },
  },
  {
    title: 'unknown sandboxes are removed without an error, and have no status',
    needs: [],
    run: async ({ runtime }) => {
      const request = { podSandboxId: unknownId };
      await runtime.removePodSandbox(request);
      await assertRefused(runtime.podSandboxStatus({ ...request, verbose: false }), 'NOT_FOUND');
    },
  },
  {
    title: 'a pod gets its next sandbox while the one before is still there',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async ({ id, config }) => {
        await context.runtime.stopPodSandbox({ podSandboxId: id });
        const { name = '', namespace = '', uid = '' } = config.metadata ?? {};
        await withSandbox(context, { metadata: { name, namespace, uid, attempt: 1 } }, async (second) => {
          const ids = await list(context);
          assert.ok(ids.includes(id) && ids.includes(second.id));
          assert.equal((await sandboxStatus(context, second.id)).metadata?.attempt, 1);
        });
      }),
  },
  {
    title: 'a second sandbox of one pod and attempt is refused',
    needs: ['unique names'],
    run: (context) =>
      withSandbox(context, {}, async ({ id, config }) => {
        await assertRefused(context.runtime.runPodSandbox({ config, runtimeHandler: '' }));
        assert.equal((await sandboxStatus(context, id)).state, SANDBOX_READY);
      }),
  },
  {
    title: 'a sandbox without configuration or metadata, and an unknown runtime handler, are refused',
    needs: [],
    run: async ({ runtime }) => {
      const before = (await runtime.listPodSandbox({})).items.length;
      await assertRefused(runtime.runPodSandbox({ runtimeHandler: '' }));
      const nameless = { ...sandboxConfig(), metadata: undefined };
      await assertRefused(runtime.runPodSandbox({ config: nameless, runtimeHandler: '' }));
      await assertRefused(
        runtime.runPodSandbox({ config: sandboxConfig(), runtimeHandler: 'no-such-handler' }),
      );
      assert.equal((await runtime.listPodSandbox({})).items.length, before);
    },
  },
  {
    title: 'every sandbox has an address of its own',
    needs: ['addresses'],
    run: (context) =>
      withSandbox(context, {}, (one) =>
        withSandbox(context, {}, async (two) => {
          const [first, second] = [
            await sandboxStatus(context, one.id),
            await sandboxStatus(context, two.id),
          ];
          assert.match(first.network?.ip ?? '', /^[0-9a-f.:]+$/);
          assert.match(second.network?.ip ?? '', /^[0-9a-f.:]+$/);
          assert.notEqual(first.network?.ip, second.network?.ip);
        }),
      ),
  },
  {
    title: 'a sandbox on the network of the host has no address of its own',
    needs: [],
    run: (context) => {
      const namespaceOptions = { network: NamespaceMode.NODE };
      return withSandbox(
        context,
        { hostname: '', linux: { securityContext: { namespaceOptions } } },
        async ({ id }) => {
          const { network, state, linux } = await sandboxStatus(context, id);
          assert.equal(state, SANDBOX_READY);
          assert.equal(network?.ip ?? '', '');
          assert.equal(linux?.namespaces?.options?.network, NamespaceMode.NODE);
        },
      );
    },
  },
];
