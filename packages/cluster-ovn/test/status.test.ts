import { planOvnCluster } from '@podwire/cluster-ovn';
import {
  checkObject,
  type StoredObject,
  type Subnet,
  type Vlan,
  type Vpc,
  withStatusOf,
} from '@podwire/objects';
import { describe, expect, it } from 'vitest';
import { lookOf, make, nodeOf, options, settle, writesOf } from './cluster-look.js';

const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

const find = <T>(objects: readonly StoredObject[], kind: string, name: string): T =>
  objects.map(({ object }) => object).find((one) => one.kind === kind && one.metadata.name === name) as T;

const statusOf = (name: string, objects: readonly StoredObject[]) =>
  find<Subnet>(objects, 'Subnet', name).status;

const subnet = (name: string, spec: Readonly<Record<string, unknown>>) => make('Subnet', name, spec);

const ip = (name: string, of: string, ipAddress: string) =>
  make('IP', `${name}.shop`, {
    ...{ podName: name, namespace: 'shop', subnet: of, nodeName: 'n1' },
    ...{ ipAddress, macAddress: '00:00:00:00:00:01' },
  });

const conditionsOf = (name: string, objects: readonly StoredObject[]) =>
  statusOf(name, objects)!.conditions.map(({ type, status, reason, message }) => [
    type,
    status,
    reason,
    message,
  ]);

/** The subnet of other content, as people apply it: its status stays. */
function change(objects: readonly StoredObject[], name: string, spec: Readonly<Record<string, unknown>>) {
  return objects.map((one) => {
    if (one.object.kind !== 'Subnet' || one.object.metadata.name !== name) return one;
    const { spec: before } = one.object as Subnet;
    const checked = checkObject(Object.assign({}, one.object, { spec: { ...before, ...spec } }));
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    return { ...one, object: withStatusOf(checked.object, one.object) };
  });
}

describe('the status of a subnet', () => {
  it.each<[string, Readonly<Record<string, unknown>>, readonly string[], readonly number[]]>([
    ['counts addresses but for first, last and gateway', { cidrBlock: '10.17.0.0/24' }, [], [0, 253, 0, 0]],
    [
      'takes those off that pods have',
      { cidrBlock: '10.17.0.0/24' },
      ['10.17.0.9', '10.17.0.10'],
      [2, 251, 0, 0],
    ],
    [
      'takes an excluded one off once where a pod has it',
      { cidrBlock: '10.17.0.0/24', excludeIps: ['10.17.0.9..10.17.0.12'] },
      ['10.17.0.9'],
      [1, 249, 0, 0],
    ],
    ['counts each family', { cidrBlock: '10.17.0.0/24,fd17::/120' }, ['10.17.0.9,fd17::9'], [1, 252, 1, 252]],
    ['counts a /64 in floating point', { cidrBlock: 'fd17::/64' }, ['fd17::9'], [0, 0, 1, 2 ** 64]],
    ['counts no address as free that is outside', { cidrBlock: '10.17.0.0/30' }, ['10.99.0.1'], [1, 1, 0, 0]],
  ])('%s', (_, spec, addresses, [v4usingIPs, v4availableIPs, v6usingIPs, v6availableIPs]) => {
    const ips = addresses.map((address, at) => ip(`pod-${at}`, 'blue', address));
    const { changes } = planOvnCluster(lookOf([...settle([]), subnet('blue', spec), ...ips]), options);
    const write = changes.find(({ after }) => after?.metadata.name === 'blue');
    expect((write?.after as Subnet | undefined)?.status).toMatchObject({
      ...{ v4usingIPs, v4availableIPs, v6usingIPs, v6availableIPs, activateGateway: '' },
    });
  });

  it('counts addresses of nodes in `join`', () => {
    const nodes = [nodeOf('n1')];
    expect(statusOf('join', settle([], nodes))).toMatchObject({ v4usingIPs: 1, v4availableIPs: 65_532 });
  });

  it('has the conditions of Kube-OVN, by a clock', () => {
    const objects = settle([subnet('blue', { cidrBlock: '10.17.0.0/16' })], [], start);
    expect(conditionsOf('blue', objects)).toEqual([
      ['Validated', 'True', 'ResetLogicalSwitchAclSuccess', ''],
      ['Ready', 'True', 'ResetLogicalSwitchAclSuccess', ''],
      ['Error', 'False', 'NoError', ''],
    ]);
    for (const { lastUpdateTime, lastTransitionTime } of statusOf('blue', objects)!.conditions)
      expect([lastUpdateTime, lastTransitionTime]).toEqual(['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z']);
  });

  it('has the error with its message while there is a fault, and says since when', () => {
    const before = settle([subnet('blue', { cidrBlock: '10.17.0.0/16' })], [], start);
    const faulty = settle(change(before, 'blue', { vpc: 'red' }), [], start + 60_000);
    const because = ['ValidateLogicalSwitchFailed', 'Subnet blue: spec.vpc: there is no Vpc red'];
    expect(conditionsOf('blue', faulty)).toEqual([
      ['Validated', 'False', ...because],
      ['Ready', 'False', ...because],
      ['Error', 'True', ...because],
    ]);
    const sound = settle(change(faulty, 'blue', { vpc: 'ovn-cluster' }), [], start + 120_000);
    expect(conditionsOf('blue', sound)[2]).toEqual(['Error', 'False', 'NoError', '']);
    const changed = settle(change(sound, 'blue', { private: true }), [], start + 180_000);
    const [validated, , error] = statusOf('blue', changed)!.conditions;
    expect(validated).toMatchObject({
      ...{ reason: 'SetPrivateLogicalSwitchSuccess', lastUpdateTime: '2026-01-02T03:07:05Z' },
      lastTransitionTime: '2026-01-02T03:06:05Z',
    });
    expect(error).toMatchObject({ lastUpdateTime: '2026-01-02T03:06:05Z' });
  });

  it('keeps conditions of other types, and other fields', () => {
    const other = {
      type: 'Other',
      status: 'True',
      reason: 'R',
      message: '',
      lastUpdateTime: '',
      lastTransitionTime: '',
    };
    const blue = subnet('blue', { cidrBlock: '10.17.0.0/16' });
    const status = { activateGateway: 'n1', conditions: [other] };
    const objects = settle([{ ...blue, object: Object.assign({}, blue.object, { status }) }]);
    expect(statusOf('blue', objects)).toMatchObject({ activateGateway: 'n1' });
    expect(statusOf('blue', objects)!.conditions).toHaveLength(4);
    expect(statusOf('blue', objects)!.conditions[3]).toEqual(other);
  });

  it('is written when it differs alone, whatever the time is', () => {
    const objects = settle([subnet('blue', { cidrBlock: '10.17.0.0/16' })], [nodeOf('n1')], start);
    expect(writesOf(planOvnCluster(lookOf(objects, [nodeOf('n1')], start + 1e9), options))).toEqual([]);
  });
});

describe('the status of a VPC', () => {
  it('has its router, its subnets and that of pods without one', () => {
    const vpc = make('Vpc', 'red', {});
    const objects = settle([vpc, subnet('red-2', { cidrBlock: '10.17.0.0/16', vpc: 'red' })]);
    expect(find<Vpc>(objects, 'Vpc', 'red').status).toMatchObject({
      ...{ standby: true, default: false, router: 'red', subnets: ['red-2'], defaultLogicalSwitch: '' },
    });
    expect(find<Vpc>(objects, 'Vpc', 'ovn-cluster').status).toMatchObject({
      ...{ standby: true, default: true, router: 'ovn-cluster', subnets: ['join', 'ovn-default'] },
      ...{ defaultLogicalSwitch: 'ovn-default', tcpLoadBalancer: '' },
    });
  });
});

describe('the status of a VLAN', () => {
  it('has its subnets', () => {
    const vlan = make('Vlan', 'v10', { id: 10, provider: 'net1' });
    const objects = settle([vlan, subnet('outside', { cidrBlock: '10.17.0.0/16', vlan: 'v10' })]);
    expect(find<Vlan>(objects, 'Vlan', 'v10').status).toEqual({ subnets: ['outside'] });
  });
});

it('objects that cannot be read get no status', () => {
  const reference = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', name: 'blue' };
  const look = lookOf(settle([]));
  const objects = { ...look.objects, unreadable: [{ reference, revision: 1, problems: [] }] };
  expect(writesOf(planOvnCluster({ ...look, objects }, options))).toEqual([]);
});
