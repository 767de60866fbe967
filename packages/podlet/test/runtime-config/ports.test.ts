import { expect, test } from 'vitest';
import type { ContainerPort } from '@podwire/pod-spec';
import { collectPorts, resolvePort } from '../../src/runtime-config/ports.js';
import { makeContainer, makePod } from './make-pod.js';

const tcp = (containerPort: number, more: Partial<ContainerPort> = {}): ContainerPort => ({
  containerPort,
  protocol: 'TCP',
  ...more,
});
const collect = (...ports: ContainerPort[][]) =>
  collectPorts(
    makePod({ containers: ports.map((each, index) => makeContainer({ name: `c${index}`, ports: each })) }),
  );

test('ports of all containers, sidecars too, are collected in order', () => {
  const pod = makePod({
    initContainers: [
      makeContainer({ name: 'once', ports: [tcp(1)] }),
      makeContainer({ name: 'side', restartPolicy: 'Always', ports: [tcp(2)] }),
    ],
    containers: [makeContainer({ ports: [tcp(3), tcp(4, { protocol: 'UDP' })] })],
  });
  expect(collectPorts(pod).map(({ containerPort }) => containerPort)).toEqual([2, 3, 4]);
});

test.each([
  ['the same numbers in two containers', [[tcp(80, { hostPort: 8080 })], [tcp(80, { hostPort: 8080 })]], 1],
  ['the same name in one container', [[tcp(80, { name: 'a' }), tcp(81, { name: 'a' })]], 1],
  ['the same name in two containers', [[tcp(80, { name: 'a' })], [tcp(81, { name: 'a' })]], 2],
  ['two protocols', [[tcp(80), tcp(80, { protocol: 'UDP' })]], 2],
  ['two host addresses', [[tcp(80, { hostIP: '127.0.0.1' }), tcp(80, { hostIP: '::1' })]], 2],
  ['two host ports', [[tcp(80, { hostPort: 1 }), tcp(80, { hostPort: 2 })]], 2],
  ['a name and the same numbers without', [[tcp(80, { name: 'a' }), tcp(80)]], 1],
])('%s', (_, ports, count) => expect(collect(...ports)).toHaveLength(count));

test('on the host’s network there is nothing to map', () => {
  expect(
    collectPorts(makePod({ hostNetwork: true, containers: [makeContainer({ ports: [tcp(80)] })] })),
  ).toEqual([]);
});

test('ports are given by number or name', () => {
  const container = { ports: [tcp(8080, { name: 'http' })] };
  expect(['http', 'other', 81, '82'].map((port) => resolvePort(container, port))).toEqual([
    8080,
    undefined,
    81,
    82,
  ]);
});
