import { describe, expect, test } from 'vitest';
import type { Resource } from '../src/index.js';
import { planRemoval, planSteps } from '../src/steps.js';

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

describe('planSteps', () => {
  test('joins neighbours that share channel and side, and nothing else', () => {
    const steps = planSteps([veth, ifb, hostUp, hostRoute, podAddress, parameter, element, reset]);
    expect(steps.map((step) => [step.channel, step.side, step.resources.length])).toEqual([
      ['link', 'host', 2],
      ['route', 'host', 2],
      ['route', 'pod', 1],
      ['parameter', 'host', 1],
      ['elements', 'host', 1],
      ['conntrack', 'host', 1],
    ]);
  });

  test('lets a parameter of a link travel with the link, and no other', () => {
    expect(planSteps([sysctl, hostUp]).map((step) => step.channel)).toEqual(['route']);
    const forwarding: Resource = { ...sysctl, key: 'net/ipv4/conf/cali1/forwarding' };
    expect(planSteps([forwarding, hostUp]).map((step) => step.channel)).toEqual(['parameter', 'route']);
  });

  test('keeps the order when a channel comes back', () => {
    const steps = planSteps([hostUp, podAddress, hostRoute]);
    expect(steps.map((step) => step.side)).toEqual(['host', 'pod', 'host']);
  });

  test('gives every resource its own step for fault tests', () => {
    expect(planSteps([veth, ifb, hostUp], true)).toHaveLength(3);
  });
});

describe('planRemoval', () => {
  test('leaves to the link what goes with it and resets connection tracking last', () => {
    const removal = planRemoval([
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
    expect(removal.links).toEqual([veth, ifb]);
    expect(removal.explicit).toEqual([element, blackhole, reset]);
  });

  test('takes everything else back in reverse', () => {
    const other: Resource = { ...blackhole, destination: '10.0.0.64/26' };
    expect(planRemoval([blackhole, other]).explicit).toEqual([other, blackhole]);
  });
});
