import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containsAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import {
  checkShape,
  fabrics,
  familyChoices,
  planOvnNetwork,
  planPools,
  planTopology,
  podName,
  podRanges,
  type Shape,
  defaultShape,
  withoutLength,
} from '../src/shape.js';

const shapes: fc.Arbitrary<Shape> = fc
  .record({
    nodes: fc.integer({ min: 1, max: 200 }),
    subnets: fc.integer({ min: 1, max: 16 }),
    families: fc.constantFrom(...familyChoices),
    fabric: fc.constantFrom(...fabrics),
  })
  .map((some) => ({ ...defaultShape, ...some, subnets: Math.min(some.subnets, some.nodes) }));

describe('a topology', () => {
  test('every node has an address of each family in its own segment, and no two the same', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const { nodes, segments, families } = planTopology(shape);
        expect(nodes).toHaveLength(shape.nodes);
        expect(new Set(nodes.map(({ segment }) => segment)).size).toBe(segments.length);
        const all = [...nodes.map(({ addresses }) => addresses), ...segments.map(({ gateway }) => gateway)];
        const texts = all.flatMap((each) => Object.values(each) as string[]);
        expect(new Set(texts).size).toBe(texts.length);
        for (const { addresses, segment } of nodes)
          for (const family of families) {
            const key = `ipv${family}` as const;
            const own = parseAddress(withoutLength(addresses[key] ?? ''));
            expect(containsAddress(parsePrefix(segment.gateway[key] ?? '', { loose: true }), own)).toBe(true);
          }
        expect(nodes.every(({ port }) => port.length <= 15)).toBe(true);
      }),
    );
  });

  test('the addresses of nodes are of no pool', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const pools = planPools(shape).map(({ cidr }) => parsePrefix(cidr));
        expect(pools).toHaveLength(shape.families === 'dual' ? 2 : 1);
        for (const { addresses } of planTopology(shape).nodes)
          for (const text of Object.values(addresses) as string[])
            expect(pools.some((pool) => containsAddress(pool, parseAddress(withoutLength(text))))).toBe(
              false,
            );
      }),
    );
  });
});

test('no node and no gateway has an address of pods or of the subnet join in the model ovn', () => {
  fc.assert(
    fc.property(shapes, fc.constantFrom('ipv4', 'dual'), (some, families) => {
      const shape: Shape = { ...some, model: 'ovn', families };
      const { pods, join } = planOvnNetwork(shape);
      expect(podRanges(shape)).toEqual(pods);
      expect(planPools(shape)).toEqual([]);
      const { nodes, segments } = planTopology(shape);
      const places = [...nodes.map(({ addresses }) => addresses), ...segments.map(({ gateway }) => gateway)];
      const ranges = [...pods, ...join].map((cidr) => parsePrefix(cidr));
      expect(ranges).toHaveLength(families === 'dual' ? 4 : 2);
      const taken = places
        .flatMap((each) => Object.values(each) as string[])
        .filter((text) => ranges.some((range) => containsAddress(range, parseAddress(withoutLength(text)))));
      expect(taken).toEqual([]);
    }),
  );
});

describe('what cannot be', () => {
  const refuse = (change: Partial<Shape>, name = 'x'): string => {
    try {
      checkShape(name, { ...defaultShape, ...change });
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };

  test('says why', () => {
    expect(refuse({})).toBe('');
    expect(refuse({ nodes: 0 })).toBe('nodes must be a number from 1 to 200, is 0');
    expect(refuse({ nodes: 1.5 })).toMatch('is 1.5');
    expect(refuse({ pods: 101 })).toMatch('pods must be a number from 0 to 100');
    expect(refuse({ subnets: 4 })).toBe('4 subnets need as many nodes, there are 3');
    expect(refuse({ subnets: 2, fabric: 'direct' })).toMatch('take vxlan-cross-subnet');
    expect(refuse({ model: 'ovn', families: 'ipv6' })).toBe(
      'tunnels of the model ovn need IPv4, families is ipv6',
    );
    expect(refuse({ model: 'ovn', fabric: 'direct' })).toMatch('tunnels of its own, not the fabric direct');
    expect(refuse({ model: 'ovn', subnets: 2 })).toBe('');
    for (const name of ['', '..', 'A', 'a/b', '-a', 'a'.repeat(33)])
      expect(refuse({}, name)).toMatch('is no name');
  });
});

test('names of pods are as many as there are pods', () => {
  const names = Array.from({ length: 100 }, (_, index) => podName(3, index));
  expect(names.slice(0, 3)).toEqual(['pod3a', 'pod3b', 'pod3c']);
  expect(names[26]).toBe('pod3aa');
  expect(new Set(names).size).toBe(100);
});
