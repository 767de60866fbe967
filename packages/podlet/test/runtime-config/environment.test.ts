import { describe, expect, test } from 'vitest';
import { type Container, readApiPod } from '@podwire/pod-spec';
import { buildEnvironment } from '../../src/runtime-config/environment.js';
import { makeContainer, makePod } from './make-pod.js';

const configMaps = new Map([
  ['settings', { COLOUR: 'red', SIZE: '3', 'bad=key': 'x', '1FOO': 'x', 'with.dot': 'y' }],
  ['other', { COLOUR: 'blue' }],
]);

function environment(
  changes: Partial<Container>,
  facts: { hostNetwork?: boolean; addresses?: string[] } = {},
) {
  const pod = makePod(
    { hostNetwork: facts.hostNetwork ?? false, serviceAccountName: 'robot' },
    { labels: { app: 'web', "odd'key": 'o' }, annotations: { 'example.com/note': 'hi' } },
  );
  const built = buildEnvironment(makeContainer(changes), {
    pod,
    addresses: facts.addresses ?? ['10.1.0.7', 'fd00::7'],
    nodeName: 'node-1',
    nodeAddresses: ['192.0.2.10', '2001:db8::10'],
    configMaps,
  });
  return Object.fromEntries(built);
}

const field = (fieldPath: string) =>
  environment({ env: [{ name: 'F', valueFrom: { fieldRef: { fieldPath } } }] })['F'];

test.each([
  ['metadata.name', 'web'],
  ['metadata.namespace', 'shop'],
  ['metadata.uid', '0b6f0f0e-6a53-4a6f-a3c5-6a1c7d1f0b11'],
  ["metadata.labels['app']", 'web'],
  ["metadata.labels['missing']", ''],
  ["metadata.labels['toString']", ''],
  ["metadata.annotations['example.com/note']", 'hi'],
  ['spec.nodeName', 'node-1'],
  ['spec.serviceAccountName', 'robot'],
  ['status.podIP', '10.1.0.7'],
  ['status.podIPs', '10.1.0.7,fd00::7'],
  ['status.hostIP', '192.0.2.10'],
  ['status.hostIPs', '192.0.2.10,2001:db8::10'],
])('field %s is %s', (path, value) => expect(field(path)).toBe(value));

test.each(['metadata.labels', 'spec.containers', 'toString', "metadata.labels['x", ''])(
  'there is no field %j',
  (path) => {
    expect(() => field(path)).toThrow(expect.objectContaining({ code: 'CONTAINER_CONFIG_INVALID' }));
  },
);

test('on the host’s network the pod’s addresses are the host’s', () => {
  const env = [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
  expect(environment({ env }, { hostNetwork: true, addresses: [] })).toEqual({ IP: '192.0.2.10' });
});

describe('references', () => {
  test('see what came before, not what comes after', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'B', value: '$(A)-$(C)' },
      { name: 'C', value: '$(B)' },
      { name: 'A', value: 'again $(A)' },
    ];
    expect(environment({ env })).toEqual({ A: 'again 1', B: '1-$(C)', C: '1-$(C)' });
  });

  test('see fields, ConfigMaps and envFrom', () => {
    const env = [
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'KEY', valueFrom: { configMapKeyRef: { name: 'settings', key: 'SIZE' } } },
      { name: 'ALL', value: '$(NAME) $(KEY) $(P_COLOUR)' },
    ];
    const envFrom = [{ prefix: 'P_', configMapRef: { name: 'other' } }];
    expect(environment({ env, envFrom })).toMatchObject({ ALL: 'web 3 blue' });
  });
});

describe('envFrom', () => {
  test('later ones win, env wins over all, keys with = are passed over', () => {
    const envFrom = [{ configMapRef: { name: 'settings' } }, { configMapRef: { name: 'other' } }];
    const env = [{ name: 'SIZE', value: '4' }];
    expect(environment({ envFrom, env })).toEqual({
      COLOUR: 'blue',
      SIZE: '4',
      '1FOO': 'x',
      'with.dot': 'y',
    });
  });

  test('what is missing is an error unless it is optional', () => {
    const missing = { name: 'nowhere' };
    expect(() => environment({ envFrom: [{ configMapRef: missing }] })).toThrow(/nowhere.*does not exist/);
    expect(environment({ envFrom: [{ configMapRef: { ...missing, optional: true } }] })).toEqual({});
  });
});

test.each([
  [{ name: 'nowhere', key: 'K' }, /shop\/web.*main.*nowhere does not exist/],
  [{ name: 'settings', key: 'K' }, /settings has no key K/],
  [{ name: 'settings', key: 'toString' }, /has no key toString/],
])('configMapKeyRef %j', (configMapKeyRef, message) => {
  const env = (optional: boolean) => [
    { name: 'V', valueFrom: { configMapKeyRef: { ...configMapKeyRef, optional } } },
  ];
  expect(() => environment({ env: env(false) })).toThrow(message);
  expect(environment({ env: env(true) })).toEqual({});
});

describe('what only the API knows, read from a pod of the API', () => {
  const read = (container: object) => {
    const spec = { containers: [{ name: 'main', image: 'i', ...container }] };
    const { pod } = readApiPod({ metadata: { name: 'web', namespace: 'shop', uid: 'u' }, spec });
    return environment(pod.spec.containers[0]!);
  };

  test.each([
    [{ secretKeyRef: { name: 's', key: 'password' } }, 'env V: Podwire has no values from a secretKeyRef'],
    [
      { resourceFieldRef: { resource: 'limits.cpu' } },
      'env V: Podwire has no values from a resourceFieldRef',
    ],
  ])('%j is an error, never an empty value', (valueFrom, message) => {
    expect(() => read({ env: [{ name: 'V', valueFrom }] })).toThrow(message);
  });

  test('a Secret of envFrom too', () => {
    const envFrom = [{ prefix: 'P_', secretRef: { name: 's' } }];
    expect(() => read({ envFrom })).toThrow('envFrom: Podwire has no values from a secretRef');
  });

  test('what is optional is not set', () => {
    const valueFrom = { secretKeyRef: { name: 's', key: 'k', optional: true } };
    const envFrom = [{ secretRef: { name: 's', optional: true } }];
    expect(read({ env: [{ name: 'V', valueFrom }], envFrom })).toEqual({});
  });
});

test('an empty value stays a variable', () => {
  expect(environment({ env: [{ name: 'E', value: '' }, { name: 'N' }] })).toEqual({ E: '', N: '' });
});
