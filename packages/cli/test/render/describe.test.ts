import type { PodDescription } from '@podwire/podlet';
import { createColors } from 'picocolors';
import { expect, test } from 'vitest';
import { adviseOn } from '../../src/pods/advice.js';
import type { PodDocument } from '../../src/pods/describe.js';
import { selectEvents } from '../../src/pods/events.js';
import { findReason } from '../../src/pods/reason.js';
import { renderPodDocument } from '../../src/render/describe.js';
import { container, podView } from '../pods/views.js';

const paint = createColors(false);
const options = { now: Date.parse('2026-01-01T00:01:00Z'), width: 100 };
const probe = { initialDelaySeconds: 0, periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 3 };

function documentOf(pod: PodDocument['pod'], network: Partial<PodDocument['network']> = {}): PodDocument {
  const spec = {
    initContainers: [],
    containers: [
      {
        ...{ name: 'main', image: 'web:1', command: ['/bin/web'], args: ['-p', '80'] },
        readinessProbe: { ...probe, httpGet: { scheme: 'HTTP', path: '/ok', port: 80 } },
      },
    ],
    volumes: [{ name: 'site', hostPath: { path: '/srv' } }],
    restartPolicy: 'Always',
  } as unknown as PodDescription['spec'];
  return {
    ...{ pod, spec, labels: { app: 'web' }, node: 'n1', runtime: 'embedded' },
    network: { attachment: null, mtu: null, problem: null, ...network },
    reason: findReason(pod) ?? null,
    advice: adviseOn(pod),
  };
}

test('a pod that is ready: what it is, and no advice', () => {
  const lines = renderPodDocument(documentOf(podView('web')), options, paint);
  const text = lines.join('\n');
  for (const words of [
    'pod/shop/web',
    'source     /pods/web.yaml',
    'labels     app=web',
    'started    2026-01-01T00:00:00Z (60s ago)',
    'status     Running',
    '  main: running since 2026-01-01T00:00:00Z, ready',
    '    image web:1, command /bin/web -p 80',
    '    readiness probe: HTTP GET :80/ok, every 1 s, within 1 s, 3 failures count',
    '  site: hostPath /srv',
  ])
    expect(lines).toContain(words);
  expect(text).not.toContain('What to do');
});

test('a pod that waits: why, its events, what to do; and that no node agent answers', () => {
  const one = container('main', {
    ready: false,
    state: { waiting: { reason: 'ErrImageNeverPull', message: 'no' } },
  });
  const event = {
    type: 'Warning',
    reason: 'Failed',
    message: 'no\u001b[2J image',
    at: 1,
    lastAt: 1,
    count: 3,
  } as const;
  const unready = { type: 'Ready', status: 'False', reason: 'ContainersNotReady' } as const;
  const pod = podView(
    'web',
    { containers: [one], events: [event] },
    { phase: 'Pending', conditions: [unready] },
  );
  const text = renderPodDocument(documentOf(pod, { problem: 'no agent answers' }), options, paint).join('\n');
  expect(text).toMatch(/status {5}ErrImageNeverPull: container main: no\n/);
  expect(text).toMatch(/Network\n {2}no agent answers\n/);
  expect(text).toMatch(/Warning {3}Failed {7}3 {3}no/);
  expect(text).toMatch(/What to do\n {2}Load the image/);
});

test('whose events are meant', () => {
  const all = [
    { namespace: 'shop', name: 'web' },
    { namespace: 'other', name: 'web' },
    { namespace: 'shop', name: 'db' },
  ];
  const chosen = (pod?: string, namespace?: string) =>
    all.filter(selectEvents(pod, namespace)).map((one) => `${one.namespace}/${one.name}`);
  expect(chosen()).toHaveLength(3);
  expect(chosen('web')).toEqual(['shop/web', 'other/web']);
  expect(chosen('pod/shop/web')).toEqual(['shop/web']);
  expect(chosen('web', 'other')).toEqual(['other/web']);
  expect(chosen(undefined, 'shop')).toEqual(['shop/web', 'shop/db']);
});
