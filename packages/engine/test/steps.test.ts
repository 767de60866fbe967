import { linuxKinds } from '@podwire/backend-linux';
import { describe, expect, test } from 'vitest';
import { createKindRegistry, type Resource } from '../src/index.js';
import { planBatches } from '../src/order.js';
import { planRemoval } from '../src/steps.js';

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
const table: Resource = { kind: 'nft-table', family: 'inet', name: 'podwire', body: '' };
const reset: Resource = { kind: 'conntrack-reset', protocol: 'udp', family: 4, port: 53 };

describe('planBatches', () => {
  const cut = (resources: readonly Resource[]): unknown[] =>
    planBatches(kinds, resources).map((batch) => [batch.name, batch.place, batch.resources.length]);

  test('joins all that share batch and place, in the order in which they may go', () => {
    const list = [veth, ifb, hostUp, hostRoute, podAddress, parameter, element, reset];
    expect(cut([...list, blackhole])).toEqual([
      ['values', 'host', 1],
      ['links', 'host', 2],
      ['entries', 'host', 3],
      ['entries', 'pod', 1],
      ['transaction', 'host', 1],
      ['resets', 'host', 1],
    ]);
  });

  test('puts a resource behind those that it needs, wherever they stand', () => {
    const order = [podAddress, hostUp, veth];
    expect(planBatches(kinds, order).flatMap((batch) => batch.resources)).toEqual([veth, podAddress, hostUp]);
    const needy: Resource = { ...parameter, after: ['nft-table inet podwire'] };
    expect(planBatches(kinds, [needy, table]).map((batch) => batch.name)).toEqual(['ruleset', 'values']);
  });

  test('sets the parameters of a link between the link and what is on it', () => {
    const off: Resource = { ...parameter, key: 'net/ipv6/conf/cali1/disable_ipv6', value: '0' };
    expect(cut([hostRoute, sysctl, off, veth])).toEqual([
      ['links', 'host', 1],
      ['values', 'host', 1],
      ['entries', 'host', 2],
    ]);
  });

  test('sends a sysctl of a link with the link’s entries, and no other sysctl', () => {
    expect(planBatches(kinds, [sysctl, hostUp]).map((batch) => batch.name)).toEqual(['entries']);
    const forwarding: Resource = { ...sysctl, key: 'net/ipv4/conf/cali1/forwarding' };
    expect(planBatches(kinds, [forwarding, hostUp]).map((batch) => batch.name)).toEqual([
      'values',
      'entries',
    ]);
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
    expect(removal.map((batch) => batch.resources)).toEqual([[element], [blackhole], [reset], [veth, ifb]]);
  });

  test('everything else goes in reverse', () => {
    const other: Resource = { ...blackhole, destination: '10.0.0.64/26' };
    expect(planRemoval(kinds, [blackhole, other]).map((batch) => batch.resources)).toEqual([
      [other, blackhole],
    ]);
  });
});
