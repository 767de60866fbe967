import { describe, expect, it } from 'vitest';
import { crdBlock, pool, resource } from './support/calico.js';
import { diagnosticsOf, plan } from './support/plan.js';

const pool4 = pool('p', '10.0.0.0/16');
const claimedAt = Date.parse('2024-03-01T10:05:00Z');
const web = { handle: 'k8s-pod-network.c1', node: 'n1', pod: 'default/web-1' };

it('a block as large as no memory is refused', () => {
  const huge = crdBlock('fd00::/122', 'host:n1', [], { cidr: 'fd00::/64' });
  expect(diagnosticsOf(plan([pool('p', 'fd00::/48'), huge]), 'error')).toEqual([
    'block fd00::/64: allocations: has 64 entries, and fd00::/64 has 18446744073709551616 addresses',
  ]);
});

describe('blocks', () => {
  it('become their node’s, without an instance, with an allocation record of what is in use', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [
        { ordinal: 9, ...web, more: { timestamp: '2024-05-06 07:08:09.123456789 +0000 UTC' } },
        { ordinal: 2, handle: 'k8s-pod-network.c2', node: 'n1', pod: 'kube-system/dns' },
      ]),
    ]);
    expect(made.blocks).toEqual([
      { cidr: '10.0.0.0/26', node: 'n1', state: 'confirmed', claimedAt, loans: [] },
    ]);
    const since = Date.parse('2024-05-06T07:08:09.123Z');
    expect(made.allocationRecords).toEqual([
      {
        cidr: '10.0.0.0/26',
        node: 'n1',
        entries: [
          { address: '10.0.0.2', owner: 'k8s-pod-network.c2', pod: 'kube-system/dns', since: 0 },
          { address: '10.0.0.9', owner: 'k8s-pod-network.c1', pod: 'default/web-1', since },
        ],
        reportedAt: since,
        imported: true,
      },
    ]);
    expect(made.creations.map(({ kind }) => kind)).toEqual(['ledger', 'block', 'pool']);
    expect(diagnosticsOf(made, 'note')).toEqual([
      'nodes: an agent with this nodeName takes each one’s blocks over: n1'.replace('’', "'"),
    ]);
  });

  it('of IPv6, and of one address, are taken over as well', () => {
    const made = plan([
      pool('v6', 'fd00::/64'),
      pool('single', '10.9.0.0/24', { blockSize: 32 }),
      crdBlock('fd00::40/122', 'host:n1', [{ ordinal: 63, ...web }]),
      crdBlock('10.9.0.7/32', 'host:n1', [{ ordinal: 0, ...web }]),
    ]);
    expect(made.allocationRecords.flatMap(({ entries }) => entries.map(({ address }) => address))).toEqual([
      'fd00::7f',
      '10.9.0.7',
    ]);
    expect(diagnosticsOf(made, 'error')).toEqual([]);
  });

  it('record which nodes borrow their addresses', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [
        { ordinal: 5, ...web },
        { ordinal: 20, handle: 'b', node: 'n2', pod: 'default/far' },
        { ordinal: 3, handle: 'c', node: 'n3' },
      ]),
    ]);
    expect(made.blocks[0]?.loans).toEqual([
      { address: '10.0.0.3', node: 'n3' },
      { address: '10.0.0.20', node: 'n2' },
    ]);
    expect(
      made.allocationRecords.map(({ node, entries }) => [node, entries.map(({ address }) => address)]),
    ).toEqual([
      ['n1', ['10.0.0.5']],
      ['n2', ['10.0.0.20']],
      ['n3', ['10.0.0.3']],
    ]);
    expect(diagnosticsOf(made, 'note')[0]).toBe(
      'block 10.0.0.0/26: borrowed: 10.0.0.3 by n3, 10.0.0.20 by n2',
    );
  });

  it('without an owner stay without one, and record who borrows their addresses', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', null, [{ ordinal: 5, ...web }]),
      crdBlock('10.0.0.64/26', null, []),
    ]);
    expect(made.blocks).toEqual([
      { cidr: '10.0.0.0/26', state: 'confirmed', claimedAt, loans: [{ address: '10.0.0.5', node: 'n1' }] },
    ]);
    expect(made.allocationRecords).toHaveLength(1);
  });

  it('leave out tunnels, what Windows reserves, and what cools down', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [
        { ordinal: 0, handle: 'vxlan-tunnel-addr-n1', node: 'n1', more: { type: 'vxlanTunnelAddress' } },
        { ordinal: 1, handle: 'ipip-tunnel-addr-n1', node: 'n1', more: { type: 'ipipTunnelAddress' } },
        { ordinal: 2, handle: 'Windows-Reserved-IPAM-Handle' },
        { ordinal: 3, handle: 'windows-reserved-ipam-handle' },
        { ordinal: 4, ...web, releasedAt: '2024-05-06T07:08:09Z' },
      ]),
    ]);
    expect(made.allocationRecords).toEqual([]);
    expect(diagnosticsOf(made, 'note').slice(0, 4)).toEqual([
      'block 10.0.0.0/26: 10.0.0.0: address of a tunnel (vxlanTunnelAddress): left out, nodes get new ones',
      'block 10.0.0.0/26: 10.0.0.1: address of a tunnel (ipipTunnelAddress): left out, nodes get new ones',
      'block 10.0.0.0/26: 10.0.0.2, 10.0.0.3: reserved for Windows: left out',
      'block 10.0.0.0/26: 10.0.0.4: released, and cooling down: free',
    ]);
  });

  it('that are marked as deleted are gone', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [{ ordinal: 1, ...web }], { deleted: true }),
    ]);
    expect(made.blocks).toEqual([]);
    expect(diagnosticsOf(made, 'note')).toEqual(['IPAMBlock 10-0-0-0-26: is marked as deleted and left out']);
  });

  it('that are being given back are left out when nothing of them is in use', () => {
    const affinity = (cidr: string) =>
      resource('BlockAffinity', `n1-${cidr.replaceAll(/[./]/g, '-')}`, {
        cidr,
        node: 'n1',
        type: 'host',
        state: 'pendingDeletion',
        deleted: 'false',
      });
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', []),
      affinity('10.0.0.0/26'),
      crdBlock('10.0.0.64/26', 'host:n1', [{ ordinal: 1, ...web }]),
      affinity('10.0.0.64/26'),
    ]);
    expect(made.blocks.map(({ cidr }) => cidr)).toEqual(['10.0.0.64/26']);
  });

  it('of something that is no node are reserved', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'virtual:load-balancer', [{ ordinal: 1, handle: 'lb' }]),
    ]);
    expect(made.blocks).toEqual([]);
    expect(made.pools[0]?.reserved).toEqual(['10.0.0.0/26']);
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'block 10.0.0.0/26: affinity: belongs to virtual:load-balancer, which is no node: reserved in pool p',
    ]);
  });

  it('in no pool are left out, since no pod gets addresses there', () => {
    const made = plan([pool4, crdBlock('10.9.0.0/26', 'host:n1', [{ ordinal: 1, ...web }])]);
    expect(made.blocks).toEqual([]);
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'block 10.9.0.0/26: cidr: lies in no pool and is left out: no pod will get an address of it',
    ]);
  });

  it('that are larger than those of their pool become several', () => {
    const made = plan([
      pool('p', '10.0.0.0/16', { blockSize: 28 }),
      crdBlock('10.0.0.0/26', 'host:n1', [
        { ordinal: 1, ...web },
        { ordinal: 33, handle: 'x', node: 'n2' },
      ]),
    ]);
    expect(made.blocks.map(({ cidr, node, loans }) => [cidr, node, loans.length])).toEqual([
      ['10.0.0.0/28', 'n1', 0],
      ['10.0.0.16/28', 'n1', 0],
      ['10.0.0.32/28', 'n1', 1],
      ['10.0.0.48/28', 'n1', 0],
    ]);
    expect(made.allocationRecords.map(({ cidr, node }) => `${cidr} ${node}`)).toEqual([
      '10.0.0.0/28 n1',
      '10.0.0.32/28 n2',
    ]);
  });

  it('of 4,096 addresses are taken over when their allocation records are short enough to be written', () => {
    const allocations = Array.from({ length: 4_096 }, (_, ordinal) => ({
      ordinal,
      handle: `h${ordinal}`,
      node: 'n1',
    }));
    const huge = (extra: string) =>
      plan([
        pool('p', '10.0.0.0/16', { blockSize: 20 }),
        crdBlock(
          '10.0.0.0/20',
          'host:n1',
          allocations.map((each) => ({ ...each, handle: each.handle + extra })),
        ),
      ]);
    const made = huge('');
    expect(made.allocationRecords[0]?.entries).toHaveLength(4_096);
    expect(diagnosticsOf(made, 'error')).toEqual([]);
    expect(diagnosticsOf(huge('x'.repeat(100)), 'error')).toEqual([
      'ledger of n1 for 10.0.0.0/20: a new ledger: is too long',
    ]);
  });

  it('that cannot be are refused, with object and field', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [], { allocations: [null, 0] }),
      crdBlock('10.0.1.0/26', 'host:n1', [{ ordinal: 1, ...web }], { attributes: [] }),
      crdBlock('10.0.2.0/26', 'rack:n1', []),
      crdBlock('10.0.3.0/28', 'host:n1', []),
      crdBlock('10.0.4.0/26', 'host:node one', [{ ordinal: 1, handle: 'a' }]),
      crdBlock('10.0.5.0/24', 'host:n1', []),
      crdBlock('10.0.5.0/26', 'host:n2', []),
      crdBlock('10.0.6.0/26', 'host:n1', [], { allocations: 'none' }),
    ]);
    expect(diagnosticsOf(made, 'error')).toEqual([
      'IPAMBlock 10-0-6-0-26: spec.allocations: Invalid input: expected array, received string',
      'block 10.0.0.0/26: allocations: has 2 entries, and 10.0.0.0/26 has 64 addresses',
      'block 10.0.1.0/26: allocations.1: is 0, and there are 0 attributes',
      'block 10.0.2.0/26: affinity: "rack:n1" is neither host:NODE nor virtual:NAME',
      'block 10.0.3.0/28: cidr: is smaller than the blocks of pool p, which are /26',
      'block 10.0.5.0/26: cidr: another block overlaps it in 10.0.5.0/26',
      expect.stringMatching(/^ledger of node one for 10.0.4.0\/26: node: /),
      expect.stringMatching(/^block 10.0.4.0\/26: node: /),
    ]);
  });
});

describe('addresses of an unknown owner', () => {
  it('are taken for the owner’s of the block', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [{ ordinal: 1, handle: 'manual' }, { ordinal: 2 }]),
    ]);
    expect(made.allocationRecords[0]?.entries.map(({ address, owner }) => `${address} ${owner}`)).toEqual([
      '10.0.0.1 manual',
      '10.0.0.2 calico/10.0.0.2',
    ]);
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'block 10.0.0.0/26: attributes: 10.0.0.1, 10.0.0.2: no node is named; taken for addresses of n1',
    ]);
  });

  it('are reserved when the block has no owner either', () => {
    const made = plan([pool4, crdBlock('10.0.0.0/26', null, [{ ordinal: 1, handle: 'manual' }])]);
    expect(made.blocks).toEqual([]);
    expect(made.pools[0]?.reserved).toEqual(['10.0.0.1']);
    expect(diagnosticsOf(made, 'warning')).toHaveLength(1);
  });
});

describe('what Calico itself has wrong', () => {
  const endpoint = (name: string, node: string, ip: string) => ({
    apiVersion: 'projectcalico.org/v3',
    kind: 'WorkloadEndpoint',
    metadata: { name: `${node}-k8s-${name}-eth0`, namespace: 'default' },
    spec: { node, orchestrator: 'k8s', pod: name, endpoint: 'eth0', ipNetworks: [`${ip}/32`] },
  });

  it('are handles without addresses, and with wrong numbers of them', () => {
    const handle = (id: string, count: number) =>
      resource('IPAMHandle', id.toLowerCase(), {
        handleID: id,
        block: { '10.0.0.0/26': count },
        deleted: false,
      });
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [
        { ordinal: 1, handle: 'Right', node: 'n1' },
        { ordinal: 2, handle: 'wrong', node: 'n1' },
      ]),
      handle('Right', 1),
      handle('wrong', 2),
      handle('orphan', 1),
    ]);
    expect(diagnosticsOf(made, 'note').slice(0, 2)).toEqual([
      'IPAMHandle: 1 have no address (orphans) and are left out: orphan',
      'IPAMHandle: 1 have other numbers of addresses than the blocks, which count: wrong',
    ]);
  });

  it('are allocated addresses that no pod has: taken over, and told', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', [
        { ordinal: 1, ...web },
        { ordinal: 2, handle: 'x', node: 'n1', pod: 'default/gone' },
      ]),
      endpoint('web-1', 'n1', '10.0.0.1'),
    ]);
    expect(made.allocationRecords[0]?.entries).toHaveLength(2);
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'addresses: 1 are allocated and no pod has them (leaked); taken over as in use, free them with `podwire ipam release`: 10.0.0.2 (default/gone)',
    ]);
  });

  it('are addresses of pods that are not allocated: no other pod may get them', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', []),
      endpoint('same', 'n1', '10.0.0.1'),
      endpoint('other', 'n2', '10.0.0.2'),
      endpoint('nowhere', 'n2', '10.0.7.7'),
      endpoint('outside', 'n2', '192.0.2.1'),
    ]);
    expect(made.blocks[0]?.loans).toEqual([{ address: '10.0.0.2', node: 'n2' }]);
    expect(made.allocationRecords.map(({ node, entries }) => `${node} ${entries[0]?.address}`)).toEqual([
      'n1 10.0.0.1',
      'n2 10.0.0.2',
    ]);
    expect(made.pools[0]?.reserved).toEqual(['10.0.7.7']);
    expect(diagnosticsOf(made, 'warning')).toHaveLength(3);
  });

  it('are affinities that blocks know nothing of', () => {
    const affinity = (cidr: string, node: string) =>
      resource('BlockAffinity', `${node}-${cidr.replaceAll(/[./]/g, '-')}`, {
        cidr,
        node,
        state: 'confirmed',
      });
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', []),
      affinity('10.0.0.0/26', 'n1'),
      affinity('10.0.0.0/26', 'n2'),
      affinity('10.0.9.0/26', 'n1'),
    ]);
    expect(made.blocks[0]?.node).toBe('n1');
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'BlockAffinity n2-10-0-0-0-26: node: is n2; the block 10.0.0.0/26 says host:n1, which counts',
    ]);
    expect(diagnosticsOf(made, 'note')[0]).toBe(
      'BlockAffinity n1-10-0-9-0-26: n1 wants 10.0.9.0/26 (confirmed), and there is no such block: left out',
    );
  });

  it('are nodes that are not there any more', () => {
    const made = plan([
      pool4,
      crdBlock('10.0.0.0/26', 'host:n1', []),
      crdBlock('10.0.0.64/26', 'host:gone', []),
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
      { apiVersion: 'crd.projectcalico.org/v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} },
    ]);
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'nodes: not there any more, but they have blocks or addresses: gone. Free those with `podwire nodes forget NAME`',
    ]);
  });
});
