import { PodwireError } from '@podwire/errors';
import { ApiError, type LocalApi } from '@podwire/local-api';
import { expect, test } from 'vitest';
import { chooseLog } from '../../src/commands/logs.js';
import { explainUnknown, renderUnready } from '../../src/pods/not-started.js';
import { container, podView } from './views.js';

const unready = { type: 'Ready', status: 'False', reason: 'ContainersNotReady' } as const;
const waiting = { waiting: { reason: 'RunContainerError', message: 'container a has no command' } };
const { logPath: _never, ...unstarted } = container('a', { ready: false, state: waiting });
const pod = podView('web', { containers: [unstarted] }, { phase: 'Pending', conditions: [unready] });
const why = 'RunContainerError: container a has no command';

test('logs of a container that was never started say why, and where more is', () => {
  expect(() => chooseLog(pod, {})).toThrow(`container a of pod shop/web has not been started yet: ${why}`);
  try {
    chooseLog(pod, {});
  } catch (error) {
    expect((error as PodwireError).action).toBe('`podwire describe pod/shop/web` says more.');
  }
});

test('explain says of a pod without network why, unless the pod agent does not know it either', async () => {
  const unknown = new ApiError({ code: 'ENDPOINT_UNKNOWN', message: 'no endpoint is called web' }, 404);
  const agentWith = (pods: readonly object[]) =>
    ({ get: () => Promise.resolve({ pods, problems: [] }) }) as unknown as LocalApi;
  expect(await explainUnknown(unknown, agentWith([pod]), 'web')).toMatchObject({
    code: 'ENDPOINT_UNKNOWN',
    message: `pod shop/web is not attached to a network: ${why}`,
    action: '`podwire describe pod/shop/web` says more.',
  });
  expect(await explainUnknown(unknown, agentWith([]), 'web')).toBe(unknown);
  const refused = new ApiError({ code: 'REQUEST_INVALID', message: 'x' }, 400);
  expect(await explainUnknown(refused, agentWith([pod]), 'web')).toBe(refused);
  const silent = {
    get: () => Promise.reject(new PodwireError('PODLET_UNREACHABLE', 'no pod agent answers')),
  } as unknown as LocalApi;
  expect(await explainUnknown(unknown, silent, 'web')).toBe(unknown);
});

test('up ends with the reason of each pod that is not ready, and with what to type', () => {
  expect(renderUnready([pod])).toEqual([
    `pod/shop/web is not ready: ${why}`,
    '  podwire describe pod/shop/web   says more',
    '  podwire down /pods/web.yaml   takes it down',
  ]);
  expect(renderUnready([])).toEqual([]);
});
