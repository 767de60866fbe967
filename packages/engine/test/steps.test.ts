import { linuxKinds } from '@podwire/backend-linux';
import { describe, expect, test } from 'vitest';
import { createKindRegistry, type Resource } from '../src/index.js';
import { planBatches, planRemoval } from '../src/steps.js';

const kinds = createKindRegistry(Object.values(linuxKinds));

const veth: Resource = {
  kind: 'veth',
  host: { name: 'cali1', mac: 'ee:ee:ee:ee:ee:ee' },
  pod: { name: 'eth0', mac: '02:00:00:00:00:01' },
  mtu: 1500,
};
const ifb: Resource = { kind: 'ifb', name: 'pwi1', mtu: 1500 };
const hostUp: Resource = { kind: 'link-up', in: 'host', link: 'cali1' };
const hostRoute: Resource = {
  kind: 'route',
  in: 'host',
  link: 'cali1',
  destination: '10.0.0.1/32',
  scope: 'link',
};
const blackhole: Resource = { kind: 'route', in: 'host', type: 'blackhole', destination: '10.0.0.0/26' };
const podAddress: Resource = { kind: 'address', in: 'pod', link: 'eth0', address: '10.0.0.1/32' };
const sysctl: Resource = {
  kind: 'sysctl',
  in: 'host',
  key: 'net/ipv4/conf/cali1/route_localnet',
  value: '1',
};
const parameter: Resource = { kind: 'sysctl', in: 'host', key: 'net/ipv4/ip_forward', value: '1' };
const element: Resource = { kind: 'nft-element', family: 'inet', table: 'podwire', set: 's', key: [] };
const reset: Resource = { kind: 'conntrack-reset', protocol: 'udp', family: 4, port: 53 };

describe('planBatches', () => {
  test('joins neighbours that share batch and place, and nothing else', () => {
    const batches = planBatches(kinds, [veth, ifb, hostUp, hostRoute, podAddress, parameter, element, reset]);
    expect(batches.map((batch) => [batch.name, batch.place, batch.resources.length])).toEqual([
      ['links', 'host', 2],
      ['entries', 'host', 2],
      ['entries', 'pod', 1],
      ['values', 'host', 1],
      ['transaction', 'host', 1],
      ['resets', 'host', 1],
    ]);
  });

  test('a sysctl of a link travels with the link, and no other', () => {
    expect(planBatches(kinds, [sysctl, hostUp]).map((batch) => batch.name)).toEqual(['entries']);
    const forwarding: Resource = { ...sysctl, key: 'net/ipv4/conf/cali1/forwarding' };
    expect(planBatches(kinds, [forwarding, hostUp]).map((batch) => batch.name)).toEqual([
      'values',
      'entries',
    ]);
  });

  test('keeps the order when a batch comes back', () => {
    const batches = planBatches(kinds, [hostUp, podAddress, hostRoute]);
    expect(batches.map((batch) => batch.place)).toEqual(['host', 'pod', 'host']);
  });

  test('gives every resource its own batch for fault tests', () => {
    expect(planBatches(kinds, [veth, ifb, hostUp], true)).toHaveLength(3);
  });
});

describe('planRemoval', () => {
  test('what dies with a link is not removed by itself, and connection tracking is reset last', () => {
    const removal = planRemoval(kinds, [
      veth,
      ifb,
      hostUp,
      hostRoute,
      blackhole,
      podAddress,
      sysctl,
      reset,
      element,
    ]);
    expect(removal.deferred).toEqual([veth, ifb]);
    expect(removal.explicit).toEqual([element, blackhole, reset]);
  });

  test('everything else goes in reverse', () => {
    const other: Resource = { ...blackhole, destination: '10.0.0.64/26' };
    expect(planRemoval(kinds, [blackhole, other]).explicit).toEqual([other, blackhole]);
  });
});
