/** Statistics and events. */
import assert from 'node:assert/strict';
import { type ContainerEventResponse, ContainerEventType } from '@podwire/cri';
import type { ComplianceCase } from './target.js';
import { assertRecent, assertRefused, startContainer, unknownId, untilExited, withSandbox } from './tools.js';

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  ContainerEventType;

export const observationCases: readonly ComplianceCase[] = [
  {
    title: 'statistics of containers are of those that are asked for',
    needs: ['stats'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const { runtime, programs } = context;
        const containerId = await startContainer(context, sandbox, { command: programs.untilTerm() });
        const { stats } = await runtime.containerStats({ containerId });
        assert.equal(stats?.attributes?.id, containerId);
        assertRecent(stats.cpu?.timestamp ?? 0n, 'the timestamp of the CPU');
        const filter = { id: '', podSandboxId: sandbox.id, labelSelector: {} };
        const listed = (await runtime.listContainerStats({ filter })).stats;
        assert.deepEqual(
          listed.map(({ attributes }) => attributes?.id),
          [containerId],
        );
        await assertRefused(runtime.containerStats({ containerId: unknownId }));
      }),
  },
  {
    title: 'events tell of a container from its creation to its end, in order',
    needs: ['events'],
    run: (context) =>
      withSandbox(context, {}, async (sandbox) => {
        const { runtime, programs } = context;
        const ending = new AbortController();
        const events = runtime.getContainerEvents({}, { signal: ending.signal });
        const seen = collect(events);
        const containerId = await startContainer(context, sandbox, { command: programs.exits(2) });
        await untilExited(context, containerId);
        await runtime.removeContainer({ containerId });
        const own = await seen(containerId, CONTAINER_DELETED_EVENT);
        ending.abort();
        assert.deepEqual(
          own.map(({ containerEventType }) => containerEventType),
          [
            CONTAINER_CREATED_EVENT,
            CONTAINER_STARTED_EVENT,
            CONTAINER_STOPPED_EVENT,
            CONTAINER_DELETED_EVENT,
          ],
        );
        const stopped = own[2]?.containersStatuses.find(({ id }) => id === containerId);
        assert.equal(stopped?.exitCode, 2);
        assert.equal(own[0]?.podSandboxStatus?.id, sandbox.id);
      }),
  },
];

/** Begins to listen at once. @returns what waits for the last event of a container and gives all of its events */
function collect(events: AsyncIterable<ContainerEventResponse>) {
  const iterator = events[Symbol.asyncIterator]();
  let next = iterator.next();
  return async (containerId: string, last: ContainerEventType): Promise<ContainerEventResponse[]> => {
    const own: ContainerEventResponse[] = [];
    for (;;) {
      const result = await next;
      if (result.done === true) return own;
      const { value } = result;
      next = iterator.next();
      // The one that is asked for in vain when all is over.
      next.catch(() => {});
      if (value.containerId === containerId) own.push(value);
      if (own.at(-1)?.containerEventType === last) return own;
    }
  };
}
