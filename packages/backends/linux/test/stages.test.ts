import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { Resource } from '@podwire/engine';
import type {} from '../src/resources.js';
import { inApplyOrder } from '../src/stages.js';

const sysctl = (side: 'host' | 'pod', key: string): Resource => ({
  kind: 'sysctl',
  in: side,
  key,
  value: '1',
});
const up = (side: 'host' | 'pod', link: string): Resource => ({ kind: 'link-up', in: side, link });
const ready: Resource = { kind: 'link-ready', in: 'pod', link: 'p' };
const reset: Resource = { kind: 'conntrack-reset', protocol: 'udp', family: 4 };
const ifb: Resource = { kind: 'ifb', name: 'pwi1', mtu: 1450 };
const element: Resource = { kind: 'nft-element', family: 'inet', table: 'podwire', set: 's', key: [] };
const table: Resource = { kind: 'nft-table', family: 'inet', name: 'podwire', body: '' };

test('links, then the pod, then the host, then the packet filter', () => {
  const given = [
    reset,
    element,
    table,
    ready,
    up('host', 'h'),
    sysctl('host', 'h'),
    up('pod', 'p'),
    sysctl('pod', 'p'),
    ifb,
  ];
  expect(inApplyOrder(given)).toEqual([...given].reverse());
});

test('nothing is lost, and neighbours of one stage keep their order', () => {
  const resource = fc
    .tuple(fc.constantFrom('host', 'pod'), fc.boolean(), fc.integer())
    .map(([side, link, number]) => (link ? up(side, `${number}`) : sysctl(side, `${number}`)));
  fc.assert(
    fc.property(fc.array(resource), (given) => {
      const sorted = inApplyOrder(given);
      const stage = (one: Resource): string => `${one.kind} ${'in' in one ? one.in : ''}`;
      for (const name of new Set(given.map(stage))) {
        expect(sorted.filter((one) => stage(one) === name)).toEqual(
          given.filter((one) => stage(one) === name),
        );
      }
      expect(sorted).toHaveLength(given.length);
    }),
  );
});

test('refuses a kind that has no stage', () => {
  expect(() => inApplyOrder([table, { kind: 'flow' }])).toThrow(/resources of kind flow have no stage/);
});
