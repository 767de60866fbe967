import { describe, expect, test } from 'vitest';
import { type AdmissionNode, evaluateAdmission, rankOf } from '../../src/admission/index.js';
import type { ContainerPort, Pod, PodSpec } from '@podwire/pod-spec';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';

const node: AdmissionNode = {
  name: 'node1',
  labels: { 'kubernetes.io/hostname': 'node1', disk: 'ssd', cores: '8' },
  capacity: { cpu: 2000n, memory: 4n * 1024n ** 3n },
  allowedUnsafeSysctls: ['net.core.somaxconn', 'kernel.msg*'],
};

function pod(spec: Partial<PodSpec>, { name = 'web', source = 'file' } = {}): Pod {
  return makePod(spec, { name, annotations: { 'kubernetes.io/config.source': source } });
}

const asking = (requests: Record<string, string>, more: Partial<PodSpec> = {}): Partial<PodSpec> => ({
  containers: [makeContainer({ resources: { requests } })],
  ...more,
});
const ports = (...list: Partial<ContainerPort>[]): Partial<PodSpec> => ({
  containers: [
    makeContainer({ ports: list.map((each) => ({ containerPort: 80, protocol: 'TCP' as const, ...each })) }),
  ],
});
const sysctl = (name: string, more: Partial<PodSpec> = {}): Partial<PodSpec> => ({
  securityContext: { sysctls: [{ name, value: '1' }] },
  ...more,
});
const affinity = (...nodeSelectorTerms: object[]): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const label = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});
const critical = { priorityClassName: 'system-node-critical' };

function reasonFor(spec: Partial<PodSpec>, others: readonly Pod[] = []): string | undefined {
  return evaluateAdmission(pod(spec), node, others)?.reason;
}

describe('resources', () => {
  const half = pod(asking({ cpu: '1', memory: '2Gi' }), { name: 'half' });
  const sidecar = makeContainer({
    name: 's',
    restartPolicy: 'Always',
    resources: { requests: { cpu: '1' } },
  });
  const init = makeContainer({ name: 'i', resources: { requests: { cpu: '1500m' } } });
  test.each<[string, Partial<PodSpec>, Pod[], string | undefined]>([
    ['nothing', {}, [half, half, half], undefined],
    ['all there is', asking({ cpu: '2', memory: '4Gi' }), [], undefined],
    ['what is left', asking({ cpu: '1', memory: '2Gi' }), [half], undefined],
    ['500 processors', asking({ cpu: '500' }), [], 'OutOfcpu'],
    ['a little more than is left', asking({ cpu: '1001m' }), [half], 'OutOfcpu'],
    ['more memory than there is', asking({ memory: '5Gi' }), [], 'OutOfmemory'],
    ['more memory than is left', asking({ memory: '3Gi' }), [half], 'OutOfmemory'],
    ['what is not known', asking({ 'ephemeral-storage': '1Ei' }), [half], undefined],
    ['an init container beside a sidecar', { initContainers: [sidecar, init] }, [], 'OutOfcpu'],
    ['an init container before a sidecar', { initContainers: [init, sidecar] }, [], undefined],
    ['overhead', asking({ cpu: '2' }, { overhead: { cpu: '1m' } }), [], 'OutOfcpu'],
  ])('%s', (_, spec, others, reason) => {
    expect(reasonFor(spec, others)).toBe(reason);
  });

  test('the words are the kubelet’s', () => {
    expect(evaluateAdmission(pod(asking({ cpu: '500' })), node, [half])).toEqual({
      reason: 'OutOfcpu',
      message: "Node didn't have enough resource: cpu, requested: 500000, used: 1000, capacity: 2000",
    });
  });

  test('a node that does not know what it has counts nothing', () => {
    expect(evaluateAdmission(pod(asking({ cpu: '500' })), { ...node, capacity: {} }, [])).toBeUndefined();
  });

  test('a critical pod is not locked out by others, but by critical ones', () => {
    const full = pod(asking({ cpu: '2' }), { name: 'full' });
    expect(reasonFor(asking({ cpu: '1' }, critical), [full])).toBeUndefined();
    expect(reasonFor(asking({ cpu: '1' }, { priority: 2_000_001_000 }), [full])).toBeUndefined();
    expect(reasonFor(asking({ cpu: '1' }, critical), [pod(asking({ cpu: '2' }, critical))])).toBe('OutOfcpu');
    expect(reasonFor(asking({ cpu: '1' }), [pod(asking({ cpu: '2' }, critical))])).toBe('OutOfcpu');
  });

  test('a pod of a file is not locked out by those of the API', () => {
    const ofApi = pod(asking({ cpu: '2' }), { source: 'api' });
    expect(reasonFor(asking({ cpu: '1' }), [ofApi])).toBeUndefined();
    expect(evaluateAdmission(pod(asking({ cpu: '1' }), { source: 'api' }), node, [ofApi])?.reason).toBe(
      'OutOfcpu',
    );
    expect([pod({}), ofApi, pod(critical, { source: 'api' })].map(rankOf)).toEqual([1, 0, 2]);
  });
});

describe('host ports', () => {
  const taken = pod(ports({ hostPort: 8080 }), { name: 'first' });
  const bound = pod(ports({ hostPort: 8080, hostIP: '192.0.2.1' }));
  const allOfIpv6 = pod(ports({ hostPort: 8080, hostIP: '::' }));
  const onTheNode = pod({ ...ports({ hostPort: 8080, hostIP: '::' }), hostNetwork: true });
  test.each<[string, Partial<ContainerPort>, Pod, string | undefined]>([
    ['the same', { hostPort: 8080 }, taken, 'NodePorts'],
    ['the same on one address', { hostPort: 8080, hostIP: '192.0.2.1' }, taken, 'NodePorts'],
    ['the same on all addresses', { hostPort: 8080 }, bound, 'NodePorts'],
    ['the same on all addresses, written out', { hostPort: 8080, hostIP: '0.0.0.0' }, bound, 'NodePorts'],
    ['the same on the same address', { hostPort: 8080, hostIP: '192.0.2.1' }, bound, 'NodePorts'],
    ['the same on another address', { hostPort: 8080, hostIP: '192.0.2.2' }, bound, undefined],
    ['the same on all addresses of the other family', { hostPort: 8080, hostIP: '::' }, bound, undefined],
    ['the same on an IPv4 address', { hostPort: 8080, hostIP: '192.0.2.1' }, allOfIpv6, undefined],
    ['the same on an IPv6 address', { hostPort: 8080, hostIP: '2001:db8::1' }, allOfIpv6, 'NodePorts'],
    ['the same on every address', { hostPort: 8080 }, allOfIpv6, 'NodePorts'],
    ['the same as a program on the node', { hostPort: 8080, hostIP: '192.0.2.1' }, onTheNode, 'NodePorts'],
    ['the same of another protocol', { hostPort: 8080, protocol: 'UDP' }, taken, undefined],
    ['another one', { hostPort: 8081 }, taken, undefined],
    ['no host port', { containerPort: 8080 }, taken, undefined],
  ])('%s', (_, port, other, reason) => {
    expect(reasonFor(ports(port), [other])).toBe(reason);
  });

  test('an IPv6 address is the same however it is written', () => {
    const other = pod(ports({ hostPort: 53, hostIP: '2001:db8::1' }));
    expect(reasonFor(ports({ hostPort: 53, hostIP: '2001:DB8:0::1' }), [other])).toBe('NodePorts');
  });

  test('a sidecar holds its port, an init container gives it back', () => {
    const published = [{ containerPort: 80, hostPort: 8080, protocol: 'TCP' as const }];
    const init = makeContainer({ name: 'init', ports: published });
    expect(reasonFor({ initContainers: [init] }, [taken])).toBeUndefined();
    expect(reasonFor({ initContainers: [{ ...init, restartPolicy: 'Always' }] }, [taken])).toBe('NodePorts');
  });

  test('the words name the port and who has it', () => {
    expect(evaluateAdmission(pod(ports({ hostPort: 8080 })), node, [taken])?.message).toBe(
      'Predicate NodePorts failed: TCP port 8080 is taken by pod shop/first',
    );
  });
});

describe('the node', () => {
  test.each<[string, Partial<PodSpec>, string | undefined]>([
    ['a label it has', { nodeSelector: { disk: 'ssd' } }, undefined],
    ['a label it has otherwise', { nodeSelector: { disk: 'hdd' } }, 'NodeAffinity'],
    ['a label it does not have', { nodeSelector: { constructor: 'x' } }, 'NodeAffinity'],
    ['In', affinity(label('disk', 'In', 'hdd', 'ssd')), undefined],
    ['In, and not', affinity(label('disk', 'In', 'hdd')), 'NodeAffinity'],
    ['NotIn', affinity(label('disk', 'NotIn', 'hdd')), undefined],
    ['NotIn, of a label it does not have', affinity(label('zone', 'NotIn', 'a')), undefined],
    ['NotIn, and in', affinity(label('disk', 'NotIn', 'ssd')), 'NodeAffinity'],
    ['Exists', affinity(label('disk', 'Exists')), undefined],
    ['Exists, and does not', affinity(label('zone', 'Exists')), 'NodeAffinity'],
    ['DoesNotExist', affinity(label('zone', 'DoesNotExist')), undefined],
    ['DoesNotExist, and does', affinity(label('disk', 'DoesNotExist')), 'NodeAffinity'],
    ['Gt', affinity(label('cores', 'Gt', '7')), undefined],
    ['Gt, and equal', affinity(label('cores', 'Gt', '8')), 'NodeAffinity'],
    ['Lt', affinity(label('cores', 'Lt', '10')), undefined],
    ['Lt, of no number', affinity(label('disk', 'Lt', '10')), 'NodeAffinity'],
    ['an operator that is none', affinity(label('disk', 'Like', 'ssd')), 'NodeAffinity'],
    ['one term of two', affinity(label('zone', 'Exists'), label('disk', 'Exists')), undefined],
    ['a term without conditions', affinity({}), 'NodeAffinity'],
    ['no term', affinity(), 'NodeAffinity'],
    [
      'its name',
      affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node1'] }] }),
      undefined,
    ],
    [
      'another name',
      affinity({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }),
      'NodeAffinity',
    ],
  ])('%s', (_, spec, reason) => {
    expect(reasonFor(spec)).toBe(reason);
  });

  test('for a pod of the API its scheduler has chosen', () => {
    const spec = { nodeSelector: { zone: 'a' } };
    expect(evaluateAdmission(pod(spec, { source: 'api' }), node, [])).toBeUndefined();
    expect(evaluateAdmission(pod(spec, { source: 'http' }), node, [])?.reason).toBe('NodeAffinity');
  });
});

describe('sysctls', () => {
  test.each<[string, Partial<PodSpec>, string | undefined]>([
    ['a safe one', sysctl('net.ipv4.ip_unprivileged_port_start'), undefined],
    ['a safe one in the old form', sysctl('kernel/shm_rmid_forced'), undefined],
    ['one that the node allows', sysctl('net.core.somaxconn'), undefined],
    ['one that begins as the node allows', sysctl('kernel.msgmax'), undefined],
    ['another one', sysctl('net.core.netdev_max_backlog'), 'SysctlForbidden'],
    ['one with an allowed one in front', sysctl('net.core.somaxconn2'), 'SysctlForbidden'],
    ['one of the node', sysctl('vm.swappiness'), 'SysctlForbidden'],
    [
      'a safe one that is the node’s here',
      sysctl('net.ipv4.tcp_syncookies', { hostNetwork: true }),
      'SysctlForbidden',
    ],
    ['an allowed one that is the node’s here', sysctl('kernel.msgmax', { hostIPC: true }), 'SysctlForbidden'],
  ])('%s', (_, spec, reason) => {
    expect(reasonFor(spec)).toBe(reason);
  });
});
