import { describe, expect, test } from 'vitest';
import type { Container } from '@podwire/pod-spec';
import { containerLimits, type LimitOptions, qualityOfService } from '../../src/runtime-config/resources.js';
import { makeContainer, makePod } from './make-pod.js';

type Resources = Container['resources'];
const podWith = (...resources: Resources[]) =>
  makePod({
    containers: resources.map((each, index) => makeContainer({ name: `c${index}`, resources: each })),
  });

function limits(resources: Resources, options: LimitOptions = { memoryBytes: 1000n }) {
  const pod = podWith(resources);
  return containerLimits(pod, pod.spec.containers[0]!, options);
}

test.each([
  [{}, { cpuShares: 2n, cpuQuota: 0n, memoryBytes: 0n }],
  [{ requests: { cpu: '100m' } }, { cpuShares: 102n, cpuQuota: 0n }],
  [{ limits: { cpu: '500m' } }, { cpuShares: 512n, cpuQuota: 50_000n, cpuPeriod: 100_000n }],
  [
    { requests: { cpu: '1' }, limits: { cpu: '2', memory: '64Mi' } },
    { cpuShares: 1024n, cpuQuota: 200_000n, memoryBytes: 67108864n },
  ],
  [{ limits: { cpu: '1m' } }, { cpuShares: 2n, cpuQuota: 1000n }],
  [{ requests: { cpu: '9000' } }, { cpuShares: 262_144n }],
])('%j', (resources: Resources, expected) => expect(limits(resources)).toMatchObject(expected));

describe('out-of-memory scores', () => {
  test.each([
    [{}, 1000n],
    [{ limits: { cpu: '1', memory: '10' } }, -997n],
    [{ requests: { memory: '500' } }, 500n],
    [{ requests: { memory: '2000' } }, 3n],
    [{ requests: { cpu: '1' } }, 999n],
  ])('%j', (resources: Resources, score) => expect(limits(resources).oomScoreAdjustment).toBe(score));

  test.each([
    ['file', { priorityClassName: 'system-node-critical' }, -997n],
    ['api', { priorityClassName: 'system-node-critical', priority: 2_000_001_000 }, -997n],
    ['api', { priorityClassName: 'system-node-critical', priority: 0 }, 1000n],
    ['file', { priorityClassName: 'system-cluster-critical' }, 1000n],
    ['file', {}, 1000n],
  ])('a pod of source %s with %j, without requests', (source, spec, score) => {
    const pod = makePod(spec, { annotations: { 'kubernetes.io/config.source': source } });
    expect(containerLimits(pod, pod.spec.containers[0]!, {}).oomScoreAdjustment).toBe(score);
  });

  test('are fixed where they cannot be set', () => {
    expect(limits({}, { oomScoreAdjustment: 0 }).oomScoreAdjustment).toBe(0n);
  });
});

test.each([
  ['BestEffort', [{}, {}]],
  ['BestEffort', [{ limits: { 'example.com/gpu': '1' } }]],
  ['Burstable', [{ requests: { cpu: '1' } }]],
  ['Burstable', [{ limits: { cpu: '1', memory: '1Gi' } }, {}]],
  ['Burstable', [{ limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } }]],
  ['Guaranteed', [{ limits: { cpu: '1', memory: '1Gi' } }]],
  ['Guaranteed', [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } }]],
] as const)('%s: %j', (quality, resources) => expect(qualityOfService(podWith(...resources))).toBe(quality));
