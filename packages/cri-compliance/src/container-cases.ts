import assert from 'node:assert/strict';
import { type ContainerFilter, ContainerState } from '@podwire/cri';
import type { CaseContext, ComplianceCase } from './target.js';
import {
  assertRecent,
  assertRefused,
  containerStatus,
  createContainer,
  startContainer,
  uniqueName,
  unknownId,
  untilExited,
  withSandbox,
} from './tools.js';

const { CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED } = ContainerState;

const list = async ({ runtime }: CaseContext, filter?: Partial<ContainerFilter>): Promise<string[]> => {
  const whole = filter && { id: '', podSandboxId: '', labelSelector: {}, ...filter };
  return (await runtime.listContainers({ filter: whole })).containers.map(({ id }) => id);
};

export const containerCases: readonly ComplianceCase[] = [
  {
    title: 'a container is created, runs and ends with the exit code of its program',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const id = await createContainer(context, sandbox, { command: context.programs.exits(3) });
        const created = await containerStatus(context, id);
        assert.equal(created.state, CONTAINER_CREATED);
        assert.equal(created.startedAt, 0n);
        assertRecent(created.createdAt, 'created_at');
        await context.runtime.startContainer({ containerId: id });
        const ended = await untilExited(context, id);
        assert.equal(ended.exitCode, 3);
        assert.notEqual(ended.reason, '');
        assert.equal(ended.createdAt, created.createdAt);
        assertRecent(ended.startedAt, 'started_at');
        assert.ok(ended.startedAt >= ended.createdAt);
        // Not the start: containerd writes that down when it has heard of it, and a short program is over by then.
        assert.ok(ended.finishedAt >= ended.createdAt);
      }),
  },
  {
    title: 'a program that ends well has completed',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const id = await startContainer(context, sandbox, { command: context.programs.exits(0) });
        const { exitCode, reason } = await untilExited(context, id);
        assert.deepEqual({ exitCode, reason }, { exitCode: 0, reason: 'Completed' });
      }),
  },
  {
    title: 'a container keeps what it was given',
    needs: [],
    run: (context) =>
      withSandbox(context, { logDirectory: context.directory }, async (sandbox) => {
        const given = {
          metadata: { name: uniqueName('web'), attempt: 4 },
          labels: { app: 'web' },
          annotations: { 'podwire.test/a': 'x y=z' },
        };
        const logPath = `${given.metadata.name}.log`;
        const command = context.programs.untilTerm();
        const id = await startContainer(context, sandbox, { ...given, logPath, command });
        const status = await containerStatus(context, id);
        const { containers } = await context.runtime.listContainers({});
        const item = containers.find((each) => each.id === id) ?? assert.fail('it is not in the list');
        for (const { metadata, labels, annotations, image, imageRef, state } of [status, item]) {
          assert.deepEqual({ ...metadata }, given.metadata);
          assert.deepEqual({ ...labels }, given.labels);
          assert.deepEqual({ ...annotations }, given.annotations);
          assert.notEqual(image?.image ?? '', '');
          assert.notEqual(imageRef, '');
          assert.equal(state, CONTAINER_RUNNING);
        }
        assert.equal(item.podSandboxId, sandbox.id);
        assert.equal(status.logPath, `${context.directory}/${logPath}`);
      }),
  },
  {
    title: 'lists of containers are filtered by id, state, labels and sandbox, and by all of them together',
    needs: [],
    run: async (context) => {
      const label = uniqueName('label');
      const untilTerm = context.programs.untilTerm();
      await withSandbox(context, {}, (one) =>
        withSandbox(context, {}, async (two) => {
          const running = await startContainer(context, one, { labels: { label }, command: untilTerm });
          const created = await createContainer(context, one, {
            labels: { label, which: 'new' },
            command: untilTerm,
          });
          const other = await startContainer(context, two, { labels: { label }, command: untilTerm });
          const labelSelector = { label };
          assert.deepEqual((await list(context, { labelSelector })).sort(), [running, created, other].sort());
          assert.deepEqual((await list(context, { podSandboxId: one.id })).sort(), [running, created].sort());
          assert.deepEqual(await list(context, { id: other }), [other]);
          assert.deepEqual(await list(context, { labelSelector: { label, which: 'new' } }), [created]);
          const state = { state: CONTAINER_CREATED };
          assert.deepEqual(await list(context, { labelSelector, state }), [created]);
          assert.deepEqual(await list(context, { podSandboxId: two.id, labelSelector, state }), []);
          assert.deepEqual(await list(context, { id: unknownId }), []);
        }),
      );
    },
  },
  {
    title: 'unknown containers are stopped without an error',
    needs: ['stop of unknown'],
    run: async ({ runtime }) => {
      await runtime.stopContainer({ containerId: unknownId, timeout: 1n });
    },
  },
  {
    title: 'unknown containers are removed without an error, and refused everything else',
    needs: [],
    run: async ({ runtime }) => {
      const request = { containerId: unknownId };
      await runtime.removeContainer(request);
      await assertRefused(runtime.containerStatus({ ...request, verbose: false }), 'NOT_FOUND');
      await assertRefused(runtime.startContainer(request), 'NOT_FOUND');
      await assertRefused(runtime.execSync({ ...request, cmd: ['true'], timeout: 1n }), 'NOT_FOUND');
    },
  },
  {
    title: 'a container needs a sandbox, an image and a configuration',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const command = context.programs.untilTerm();
        await assertRefused(createContainer(context, { ...sandbox, id: unknownId }, { command }));
        const image = { image: 'podwire.test/no-such-image:1' };
        await assertRefused(createContainer(context, sandbox, { command, image }));
        const { runtime } = context;
        await assertRefused(
          runtime.createContainer({ podSandboxId: sandbox.id, sandboxConfig: sandbox.config }),
        );
        assert.deepEqual(await list(context, { podSandboxId: sandbox.id }), []);
      }),
  },
  {
    title: 'a group without a user, and a seccomp profile of no known form, are refused',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const command = context.programs.exits(0);
        for (const securityContext of [
          { runAsGroup: { value: 1234n } },
          { seccompProfilePath: '/etc/profile.json' },
        ])
          await assertRefused(createContainer(context, sandbox, { command, linux: { securityContext } }));
        assert.deepEqual(await list(context, { podSandboxId: sandbox.id }), []);
      }),
  },
  {
    title: 'a second container of one name and attempt is refused, and the next attempt is taken',
    needs: ['unique names'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const command = context.programs.exits(0);
        const create = (attempt: number) =>
          createContainer(context, sandbox, { metadata: { name: 'web', attempt }, command });
        const first = await create(0);
        await assertRefused(create(0));
        const second = await create(1);
        assert.deepEqual((await list(context, { podSandboxId: sandbox.id })).sort(), [first, second].sort());
      }),
  },
  {
    title: 'a container is started once',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const id = await startContainer(context, sandbox, { command: context.programs.exits(0) });
        await untilExited(context, id);
        await assertRefused(context.runtime.startContainer({ containerId: id }));
        assert.equal((await containerStatus(context, id)).state, CONTAINER_EXITED);
      }),
  },
];
