/** Events of pods that wait for an address: one for each reason. */
import type { OvnPodRecord } from '@podwire/cluster-state';
import { KubernetesError } from '@podwire/kubernetes-client';
import { silentLog, systemClock } from '@podwire/platform';
import { expect, it, onTestFinished } from 'vitest';
import { ClusterView } from '../../src/ovn/kubernetes/cluster-view.js';
import { EventWriter } from '../../src/ovn/kubernetes/event-writer.js';
import { planEvent } from '../../src/ovn/kubernetes/plan-event.js';
import { readPod } from '../../src/ovn/kubernetes/read-objects.js';
import { podObject } from '../kubernetes-cluster.js';

const full = 'OVN_EXHAUSTED: no address is free for pod shop/web in subnet blue (10.17.0.0/24)';

const recordOf = (name: string, problem?: string, uid = `${name}-1`): OvnPodRecord => ({
  ...{ namespace: 'shop', name, uid, node: 'n1' },
  annotations: problem === undefined ? {} : { 'podwire/problem': problem },
});

const podOf = (name: string) => {
  const { metadata, ...rest } = podObject(name);
  return readPod({ ...rest, metadata: { ...metadata, resourceVersion: '1' } });
};

/** @param failures answers to the first requests */
function startWriter(failures: Error[] = []) {
  const view = new ClusterView();
  view.updatePods(new Map(['web', 'db'].map((name) => [`${name}-1`, podOf(name)])));
  const sent: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  const lines: string[] = [];
  const writer = new EventWriter({
    ...{ view, clock: systemClock, log: { ...silentLog, warn: (_, message) => void lines.push(message) } },
    client: {
      request(_, path, { body }) {
        sent.push({ path, body: body as Record<string, unknown> });
        const failure = failures.shift();
        return failure === undefined ? Promise.resolve({} as never) : Promise.reject(failure);
      },
    },
  });
  onTestFinished(() => writer.stop());
  const note = (...records: OvnPodRecord[]): void =>
    writer.note(new Map(records.map((record) => [`shop/${record.name}`, record])));
  return { note, sent, lines, messages: () => sent.map(({ body }) => body['message']) };
}

it('writes what Kube-OVN writes, about the pod', () => {
  const event = planEvent(podOf('web').object, recordOf('web', full), Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  expect(event?.path).toBe('/api/v1/namespaces/shop/events');
  const time = '2026-01-02T03:04:05Z';
  expect(event?.body).toEqual({
    ...{ apiVersion: 'v1', kind: 'Event', type: 'Warning', reason: 'AcquireAddressFailed', message: full },
    metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) as string },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: 'web-1' },
    ...{ source: { component: 'podwire-controller' }, count: 1, firstTimestamp: time, lastTimestamp: time },
  });
});

it('plans none for a pod without a reason, or another one by now, and one name for one reason', () => {
  const pod = podOf('web').object;
  expect(planEvent(pod, recordOf('web'), 0)).toBeUndefined();
  expect(planEvent(pod, recordOf('web', full, 'web-2'), 0)).toBeUndefined();
  expect(planEvent(undefined, recordOf('web', full), 0)).toBeUndefined();
  const nameOf = (problem: string, now: number) =>
    (planEvent(pod, recordOf('web', problem), now)!.body['metadata'] as { name: string }).name;
  expect(nameOf(full, 1)).toBe(nameOf(full, 2));
  expect(nameOf(full, 1)).not.toBe(nameOf('another', 1));
});

it('tells a pod each reason once, however often it is planned, and again when it has been without', async () => {
  const { note, messages } = startWriter();
  note(recordOf('web', full), recordOf('db'));
  note(recordOf('web', full), recordOf('db'));
  await expect.poll(messages).toEqual([full]);
  note(recordOf('web', 'another'), recordOf('db'));
  await expect.poll(messages).toEqual([full, 'another']);
  note(recordOf('db', full));
  note(recordOf('db', full), recordOf('web', full));
  await expect.poll(messages).toEqual([full, 'another', full, full]);
});

it('takes an event that is there already for written, and tries again after other errors', async () => {
  const { note, sent, lines } = startWriter([
    new KubernetesError(409, 'AlreadyExists', 'events "web" already exists'),
    new Error('refused'),
  ]);
  note(recordOf('web', full));
  await expect.poll(() => sent.length).toBe(1);
  note(recordOf('web', full), recordOf('db', full));
  await expect
    .poll(() => sent.map(({ body }) => (body['involvedObject'] as { name: string }).name), { timeout: 5_000 })
    .toEqual(['web', 'db', 'db']);
  expect(lines).toHaveLength(1);
}, 10_000);
