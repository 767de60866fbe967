import { topologyPlans } from '@podwire/cluster-ovn';
import type { Acl } from '@podwire/backend-ovsdb/northbound/resources';
import { describe, expect, it } from 'vitest';
import { createWorld, readerOf, subnetOf, type World } from './world.js';

const listAcls = (subnet: string, world: World): Acl[] => {
  const { resources = [] } = topologyPlans['ovn-subnet'](subnet, readerOf(world)) ?? {};
  return resources.filter((one) => one.kind === 'acl');
};

/** With the ACLs of the subnet `blue` as `PRIORITY MATCH: ACTION`. */
function describeBlue(change: (world: World) => void): string[] {
  const world = createWorld();
  change(world);
  return listAcls('blue', world).map(({ priority, match, action }) => `${priority} ${match}: ${action}`);
}

const drop = '1000 ip: drop';
const wayOut = '1001 outport == "blue-ovn-cluster": allow';
const within = '1001 ip4.src == 10.17.0.0/16 && ip4.dst == 10.17.0.0/16: allow-related';
const fromNodes = '3000 ip4.src == 100.64.0.0/16 && ip4.dst == 10.17.0.0/16: allow-related';
const from = (cidr: string) => `1001 ip4.src == ${cidr} && ip4.dst == 10.17.0.0/16: allow-related`;

const makePrivate =
  (...allowedRanges: readonly string[]) =>
  ({ subnets }: World): unknown =>
    subnets.set('blue', subnetOf('17', { allowedRanges }));

describe('a private subnet', () => {
  it('is reached from itself and from nodes, and sends what it likes', () => {
    expect(describeBlue(makePrivate())).toEqual([drop, wayOut, within, fromNodes]);
  });

  it('is reached from the ranges that it names, each of them once', () => {
    const ranges = ['10.18.0.0/16', '10.19.5.0/24', '10.18.0.0/16', '10.17.0.0/16'];
    expect(describeBlue(makePrivate(...ranges))).toEqual([
      ...[drop, wayOut, within, from('10.18.0.0/16'), from('10.19.5.0/24'), fromNodes],
    ]);
  });

  it('may name the addresses of nodes: each of its ACLs has a name of its own', () => {
    const world = createWorld();
    makePrivate('100.64.0.0/16')(world);
    const names = listAcls('blue', world).map(({ name }) => name);
    expect(names).toHaveLength(5);
    expect(new Set(names).size).toBe(5);
  });

  it('has no ACL for a range of a family that it does not have', () => {
    expect(describeBlue(makePrivate('fd18::/64'))).toEqual([drop, wayOut, within, fromNodes]);
  });

  it('of both families is reached by each of them, and from nodes by that which they have', () => {
    const ranges = [
      { cidr: '10.17.0.0/16', gateway: '10.17.0.1' },
      { cidr: 'fd17::/64', gateway: 'fd17::1' },
    ];
    const acls = describeBlue(({ subnets }) =>
      subnets.set('blue', subnetOf('17', { ranges, allowedRanges: ['fd18::/64'] })),
    );
    expect(acls).toEqual([
      ...[drop, wayOut, within],
      '1001 ip6.src == fd17::/64 && ip6.dst == fd17::/64: allow-related',
      '1001 ip6.src == fd18::/64 && ip6.dst == fd17::/64: allow-related',
      fromNodes,
    ]);
  });

  it('of another VPC is not reached from addresses of nodes, which may be those of others there', () => {
    const acls = describeBlue(({ vpcs, subnets }) => {
      vpcs.set('red', { isDefault: false, staticRoutes: [] });
      subnets.set('blue', subnetOf('17', { vpc: 'red', allowedRanges: [] }));
    });
    expect(acls).toEqual([drop, '1001 outport == "blue-red": allow', within]);
  });

  it('on a network outside is not reached from addresses of nodes, and its way out is the port to it', () => {
    const underlay = { provider: 'net1', vlan: 10 };
    const acls = describeBlue(({ subnets }) =>
      subnets.set('blue', subnetOf('17', { underlay, allowedRanges: [] })),
    );
    expect(acls).toEqual([drop, '1001 outport == "localnet.blue": allow', within]);
  });

  it('is not reached from nodes while there is no subnet `join`', () => {
    const acls = describeBlue((world) => {
      makePrivate()(world);
      world.subnets.delete('join');
    });
    expect(acls).toEqual([drop, wayOut, within]);
  });

  it('is closed without a router, too', () => {
    const acls = describeBlue((world) => {
      makePrivate()(world);
      world.vpcs.clear();
    });
    expect(acls).toContain(drop);
  });

  it('logs what it drops by its name, the longest one too', () => {
    const name = 'b'.repeat(63);
    const world = createWorld();
    world.subnets.set(name, subnetOf('17', { allowedRanges: [] }));
    expect(listAcls(name, world).filter(({ log }) => log === true)).toMatchObject([
      { on: { switch: name }, direction: 'to-lport', action: 'drop', severity: 'warning', logName: name },
    ]);
  });
});

describe('a subnet that is not private', () => {
  it('has no ACLs', () => {
    expect(describeBlue(() => undefined)).toEqual([]);
  });
});
