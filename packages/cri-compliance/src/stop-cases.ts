/** How containers end when they are told to. */
import assert from 'node:assert/strict';
import { ContainerState } from '@podwire/cri';
import type { CaseContext, ComplianceCase } from './target.js';
import {
  assertRefused,
  containerStatus,
  createContainer,
  type Sandbox,
  startContainer,
  uniqueName,
  until,
  untilExited,
  withSandbox,
} from './tools.js';

const { CONTAINER_CREATED, CONTAINER_EXITED, CONTAINER_RUNNING } = ContainerState;

export const stopCases: readonly ComplianceCase[] = [
  {
    title: 'StopContainer lets the program end by SIGTERM, and has ended it when it answers',
    needs: ['signals'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const containerId = await startPrepared(context, sandbox, context.programs.untilTerm);
        await context.runtime.stopContainer({ containerId, timeout: 20n });
        const { state, exitCode } = await containerStatus(context, containerId);
        assert.deepEqual({ state, exitCode }, { state: CONTAINER_EXITED, exitCode: 7 });
      }),
  },
  {
    title: 'StopContainer kills a program that does not end in time',
    needs: ['signals'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const containerId = await startPrepared(context, sandbox, context.programs.untilKill);
        await context.runtime.stopContainer({ containerId, timeout: 1n });
        const { state, exitCode } = await containerStatus(context, containerId);
        assert.deepEqual({ state, exitCode }, { state: CONTAINER_EXITED, exitCode: 137 });
      }),
  },
  {
    title: 'StopContainer without time kills at once',
    needs: ['signals'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const containerId = await startContainer(context, sandbox, { command: context.programs.untilTerm() });
        await context.runtime.stopContainer({ containerId, timeout: 0n });
        assert.equal((await untilExited(context, containerId)).exitCode, 137);
      }),
  },
  {
    title: 'StopContainer answers well for one that has ended or never ran, and ten times at once',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const { runtime, programs } = context;
        const stop = (containerId: string) => runtime.stopContainer({ containerId, timeout: 1n });
        const running = await startContainer(context, sandbox, { command: programs.untilTerm() });
        await Promise.all(Array.from({ length: 10 }, () => stop(running)));
        await stop(running);
        const { state, exitCode, finishedAt } = await containerStatus(context, running);
        assert.equal(state, CONTAINER_EXITED);
        await stop(running);
        const again = await containerStatus(context, running);
        assert.deepEqual([again.exitCode, again.finishedAt], [exitCode, finishedAt]);
        const created = await createContainer(context, sandbox, { command: programs.untilTerm() });
        await stop(created);
        assert.notEqual((await containerStatus(context, created)).state, CONTAINER_RUNNING);
      }),
  },
  {
    title: 'RemoveContainer removes one that runs, one that never ran, and answers well a second time',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const command = context.programs.untilKill();
        const ids = [
          await startContainer(context, sandbox, { command }),
          await createContainer(context, sandbox, { command }),
        ];
        assert.equal((await containerStatus(context, ids[1] ?? '')).state, CONTAINER_CREATED);
        for (const containerId of [...ids, ...ids]) await context.runtime.removeContainer({ containerId });
        for (const id of ids) await assertRefused(containerStatus(context, id), 'NOT_FOUND');
        const { containers } = await context.runtime.listContainers({});
        assert.deepEqual(
          containers.filter(({ id }) => ids.includes(id)),
          [],
        );
      }),
  },
  {
    title: 'StopPodSandbox ends its containers, RemovePodSandbox removes them',
    needs: [],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const { runtime, programs } = context;
        const id = await startContainer(context, sandbox, { command: programs.untilKill() });
        await runtime.stopPodSandbox({ podSandboxId: sandbox.id });
        assert.equal((await containerStatus(context, id)).state, CONTAINER_EXITED);
        await assertRefused(
          createContainer(context, sandbox, { command: programs.untilKill() }).then((late) =>
            runtime.startContainer({ containerId: late }),
          ),
        );
        await runtime.removePodSandbox({ podSandboxId: sandbox.id });
        await assertRefused(containerStatus(context, id), 'NOT_FOUND');
      }),
  },
];

/** @returns the id of a container whose program is prepared for SIGTERM */
async function startPrepared(
  context: CaseContext,
  sandbox: Sandbox,
  program: (ready: string) => readonly string[],
): Promise<string> {
  const ready = uniqueName('/tmp/ready');
  const containerId = await startContainer(context, sandbox, { command: program(ready) });
  if (context.lacks.has('programs')) return containerId;
  const cmd = [context.busybox, 'test', '-e', ready];
  return until('the program', async () => {
    const { exitCode } = await context.runtime.execSync({ containerId, cmd, timeout: 5n });
    return exitCode === 0 ? containerId : undefined;
  });
}
