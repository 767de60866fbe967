import { readCalicoDump } from '@podwire/calico-import';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  block,
  crdBlock,
  etcdAffinity,
  etcdBlock,
  etcdHandle,
  etcdPool,
  jsonPage,
  type Pairs,
  plainText,
  pool,
} from './support/calico.js';
import { diagnosticsOf, plan } from './support/plan.js';

const read = (...texts: readonly string[]) =>
  readCalicoDump(texts.map((text, at) => ({ name: `file${at}`, text })));

const pairs: Pairs = [
  ...etcdPool('p', '10.0.0.0/16'),
  ...etcdPool('v6', 'fd00::/64'),
  ['/calico/ipam/v2/config', JSON.stringify({ strict_affinity: true })],
  ...etcdBlock('10.0.0.0/26', 'host:node-1', [
    { ordinal: 1, handle: 'k8s-pod-network.c1', node: 'node-1', pod: 'default/web' },
  ]),
  ...etcdBlock('fd00::/122', 'host:node-1', []),
  ...etcdAffinity('node-1', '10.0.0.0/26'),
  // Early versions wrote no value.
  ['/calico/ipam/v2/host/node-1/ipv6/block/fd00::-122', ''],
  ...etcdHandle('k8s-pod-network.c1', { '10.0.0.0/26': 1 }),
  [
    '/calico/resources/v3/projectcalico.org/nodes/node-1',
    JSON.stringify({
      kind: 'Node',
      apiVersion: 'projectcalico.org/v3',
      metadata: { name: 'node-1', labels: { zone: 'a' } },
    }),
  ],
  ['/calico/felix/v2/no-region/host/node-1/status', '{"time":"x"}'],
];

describe('an etcd datastore', () => {
  it.each([
    ['plain', [plainText(pairs)]],
    ['JSON', [jsonPage(pairs)]],
    ['JSON in pages, one file each', [jsonPage(pairs.slice(0, 4), true), jsonPage(pairs.slice(4))]],
    ['JSON in pages, in one file', [jsonPage(pairs.slice(0, 4), true) + jsonPage(pairs.slice(4))]],
    ['plain, with Windows line ends', [plainText(pairs).replaceAll('\n', '\r\n')]],
  ])('is read as %s', (_, texts) => {
    const dump = read(...texts);
    expect(dump.pools.map(({ name }) => name)).toEqual(['p', 'v6']);
    expect(dump.config?.strictAffinity).toBe(true);
    expect(dump.blocks.map(({ spec }) => spec.cidr)).toEqual(['10.0.0.0/26', 'fd00::/122']);
    expect(dump.affinities.map(({ node, cidr, state }) => [node, cidr, state])).toEqual([
      ['node-1', '10.0.0.0/26', 'confirmed'],
      ['node-1', 'fd00::/122', 'confirmed'],
    ]);
    expect(dump.handles).toMatchObject([{ id: 'k8s-pod-network.c1', counts: { '10.0.0.0/26': 1 } }]);
    expect([...dump.nodes]).toEqual([['node-1', { zone: 'a' }]]);
    expect(dump.diagnostics).toEqual([
      { level: 'note', object: 'dump', message: 'not taken over: 1 keys below /calico/felix' },
    ]);
  });

  it('gives the same plan as custom resources do', () => {
    const made = plan(
      jsonPage([...etcdPool('p', '10.0.0.0/16'), ...etcdBlock('10.0.0.0/26', 'host:n1', [])]),
    );
    const crds = plan([pool('p', '10.0.0.0/16'), crdBlock('10.0.0.0/26', 'host:n1', [])]);
    expect(made.pools).toEqual(crds.pools);
    // In etcd a block's age is known by its sequence number alone.
    expect(made.blocks).toEqual([{ ...crds.blocks[0], claimedAt: 1_709_287_500_000 }]);
  });

  it('that was dumped with a limit is not whole', () => {
    expect(read(jsonPage(pairs, true)).diagnostics).toContainEqual({
      level: 'error',
      object: 'dump',
      field: 'more',
      message: 'is true: etcdctl was given a limit, and the last page is missing',
    });
  });

  it('with a value that is no JSON is refused with its key', () => {
    const key = '/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26';
    expect(read(plainText([[key, '{"cidr":']])).diagnostics).toMatchObject([{ level: 'error', object: key }]);
  });
});

describe('custom resources', () => {
  const yaml = `
apiVersion: v1
kind: List
items:
  - apiVersion: crd.projectcalico.org/v1
    kind: IPPool
    metadata: { name: a }
    spec: { cidr: 10.0.0.0/16, blockSize: 26 }
---
# a comment
---
apiVersion: projectcalico.org/v3
kind: IPPoolList
items:
  - metadata: { name: b }
    spec: { cidr: 10.1.0.0/16 }
---
apiVersion: crd.projectcalico.org/v1
kind: BlockAffinity
metadata: { name: node-1-10-0-0-0-26 }
spec: { cidr: 10.0.0.0/26, deleted: "true", node: node-1, state: pendingDeletion }
---
apiVersion: example.org/v1
kind: IPPool
metadata: { name: theirs }
---
apiVersion: v1
kind: Pod
metadata: { name: web, namespace: shop }
spec: { nodeName: node-1 }
status: { phase: Running, podIPs: [{ ip: 10.0.0.1 }, { ip: "fd00::1" }] }
---
apiVersion: v1
kind: Pod
metadata: { name: done, namespace: shop }
spec: { nodeName: node-1 }
status: { phase: Succeeded, podIP: 10.0.0.2 }
`;

  it('are read from YAML: documents, lists, versions', () => {
    const dump = read(yaml);
    expect(dump.pools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(dump.affinities).toEqual([]);
    expect(dump.endpoints).toEqual([
      {
        object: 'Kubernetes Pod shop/web',
        node: 'node-1',
        pod: 'shop/web',
        addresses: ['10.0.0.1', 'fd00::1'],
      },
    ]);
    expect(dump.diagnostics.map(({ message }) => message)).toEqual([
      'is marked as deleted and left out',
      'not taken over: 1 IPPool (example.org/v1)',
    ]);
  });

  it.each(['constructor', '__proto__'])('of kind %s is nothing of Calico', (kind) => {
    const dump = read(`kind: ${kind}\nmetadata: {name: a}\n`);
    expect(dump.diagnostics.map(({ message }) => message)).toEqual([`not taken over: 1 ${kind}`]);
  });

  it('may be there in both versions, when they say the same', () => {
    const v1 = pool('a', '10.0.0.0/16');
    const v3 = { ...v1, apiVersion: 'projectcalico.org/v3', metadata: { name: 'a', uid: 'x' } };
    const dump = read(JSON.stringify(v1), JSON.stringify(v3));
    expect(dump.pools).toHaveLength(1);
    expect(dump.diagnostics).toEqual([]);
    const other = { ...v3, spec: { cidr: '10.1.0.0/16' } };
    expect(read(JSON.stringify(v1), JSON.stringify(other)).diagnostics).toMatchObject([
      { level: 'error', object: 'IPPool a' },
    ]);
  });

  it.each([
    ['nothing', '', /has nothing of Calico/],
    ['no YAML', 'a: [', /cannot be read/],
    ['text', 'hello', /is no object of Kubernetes/],
    ['an alias', 'kind: List\nitems: &a [*a]\n', /cannot be read/],
    ['JSON that is cut off', '{"kind": "List", "items": [', /cannot be read/],
  ])('that are %s are refused', (_, text, message) => {
    const diagnostics = read(text).diagnostics.filter(({ level }) => level === 'error');
    expect(diagnostics.map((each) => each.message).join()).toMatch(message);
  });

  it('of any nonsense are refused without a crash', () => {
    const kinds = [
      'IPPool',
      'IPAMBlock',
      'IPAMHandle',
      'BlockAffinity',
      'IPReservation',
      'WorkloadEndpoint',
      'Node',
    ];
    const objects = fc.array(
      fc.record({
        apiVersion: fc.constant('crd.projectcalico.org/v1'),
        kind: fc.constantFrom(...kinds),
        metadata: fc.jsonValue(),
        spec: fc.jsonValue(),
      }),
      { maxLength: 4 },
    );
    fc.assert(fc.property(objects, (items) => void plan(items)));
  });

  it('whose blocks have any allocations never give one address to two, and forget none', () => {
    const allocation = fc.record({
      node: fc.option(fc.constantFrom('n1', 'n2', 'n3'), { nil: undefined }),
      handle: fc.constantFrom('a', 'b'),
    });
    const content = fc.record({
      affinity: fc.constantFrom('host:n1', 'host:n2', null, 'virtual:lb'),
      at: fc
        .uniqueArray(fc.nat(63), { maxLength: 12 })
        .chain((ordinals) =>
          fc.tuple(...ordinals.map((ordinal) => allocation.map((each) => ({ ordinal, ...each })))),
        ),
    });
    fc.assert(
      fc.property(fc.array(content, { maxLength: 4 }), (blocks) => {
        const cidrs = blocks.map((_, at) => `10.0.${at}.0/26`);
        const made = plan([
          pool('p', '10.0.0.0/16'),
          ...blocks.map(({ affinity, at }, index) =>
            crdBlock(
              cidrs[index] ?? '',
              affinity,
              at.map(({ node, ...rest }) => (node === undefined ? rest : { ...rest, node })),
            ),
          ),
        ]);
        expect(diagnosticsOf(made, 'error')).toEqual([]);
        const recorded = made.allocationRecords.flatMap(({ entries }) =>
          entries.map(({ address }) => address),
        );
        expect(new Set(recorded).size).toBe(recorded.length);
        const isReserved = (address: string, cidr: string) =>
          [address, cidr].some((each) => made.pools[0]?.reserved.includes(each));
        for (const [index, { at }] of blocks.entries())
          for (const { ordinal } of at) {
            const address = `10.0.${index}.${ordinal}`;
            expect(recorded.includes(address) || isReserved(address, cidrs[index] ?? '')).toBe(true);
          }
        for (const { cidr, node, loans } of made.blocks)
          for (const record of made.allocationRecords.filter(
            (each) => each.cidr === cidr && each.node !== node,
          ))
            for (const { address } of record.entries)
              expect(loans).toContainEqual({ address, node: record.node });
      }),
    );
  });
});

it('a block in etcd and in a custom resource have one shape', () => {
  expect(crdBlock('10.0.0.0/26', null, [])['spec']).toEqual(block('10.0.0.0/26', null, []));
});

it('what is no prefix in a key, and no address of a pod, is told with its object', () => {
  const affinity = read('/calico/ipam/v2/host/n1/ipv4/block/garbage\n{"state":"confirmed"}\n');
  expect(diagnosticsOf(affinity, 'error')).toEqual([
    'BlockAffinity host n1 garbage: key.cidr: is no ADDRESS/LENGTH',
  ]);
  const pod = (podIP: string) =>
    read(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, status: { podIP } }));
  expect(diagnosticsOf(pod('nonsense'), 'error')).toEqual([
    expect.stringMatching(/^Kubernetes Pod a: status\.podIP: /),
  ]);
  expect(pod('').endpoints).toMatchObject([{ addresses: [] }]);
  expect(pod('10.0.0.1').endpoints).toMatchObject([{ addresses: ['10.0.0.1'] }]);
});
