import { describe, expect, it } from 'vitest';
import { pool, resource } from './support/calico.js';
import { diagnosticsOf, plan } from './support/plan.js';

describe('pools', () => {
  it('are taken over with their settings', () => {
    const made = plan([
      pool('default-ipv4-ippool', '10.244.0.0/16', {
        ipipMode: 'Never',
        vxlanMode: 'CrossSubnet',
        natOutgoing: true,
        nodeSelector: 'all()',
        allowedUses: ['Workload', 'Tunnel'],
      }),
      pool('v6', 'fd00:10:244::/64', { blockSize: 124, disabled: true, vxlanMode: 'Always' }),
      pool('flat', '10.245.0.0/20', { blockSize: undefined, assignmentMode: 'Manual' }),
    ]);
    const common = {
      network: 'default',
      allocation: 'blocks',
      borrowing: true,
      deleting: false,
      nodeSelector: '',
      reserved: [],
    };
    expect(made.pools).toEqual([
      {
        ...common,
        name: 'default-ipv4-ippool',
        cidr: '10.244.0.0/16',
        blockSize: 26,
        encapsulation: 'vxlan-cross-subnet',
        natOutgoing: true,
        disabled: false,
        assignment: 'automatic',
      },
      {
        ...common,
        name: 'v6',
        cidr: 'fd00:10:244::/64',
        blockSize: 124,
        encapsulation: 'vxlan',
        natOutgoing: false,
        disabled: true,
        assignment: 'automatic',
      },
      {
        ...common,
        name: 'flat',
        cidr: '10.245.0.0/20',
        blockSize: 26,
        encapsulation: 'direct',
        natOutgoing: false,
        disabled: false,
        assignment: 'manual',
      },
    ]);
    expect(made.diagnostics).toEqual([]);
    expect(made.creations.map(({ object }) => object)).toEqual([
      'pool default-ipv4-ippool',
      'pool v6',
      'pool flat',
    ]);
  });

  it.each([
    ['Always', 'vxlan'],
    ['CrossSubnet', 'vxlan-cross-subnet'],
  ])('with IPIP %s get %s, and a warning', (ipipMode, encapsulation) => {
    const made = plan([pool('a', '10.0.0.0/16', { ipipMode })]);
    expect(made.pools[0]?.encapsulation).toBe(encapsulation);
    expect(diagnosticsOf(made, 'warning')).toEqual([
      `IPPool a: spec.ipipMode: is ${ipipMode}; it becomes VXLAN of the same kind, with 30 bytes less of MTU, on UDP port 4789`,
    ]);
  });

  it('keep their node selector in our words, and say which labels agents need', () => {
    const made = plan([
      pool('a', '10.0.0.0/16', { nodeSelector: 'zone == "b" && has(disk)' }),
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', labels: { zone: 'b' } } },
    ]);
    expect(made.pools[0]?.nodeSelector).toBe('zone=b,disk');
    expect(diagnosticsOf(made, 'warning')).toEqual([
      'IPPool a: spec.nodeSelector: agents must have these labels in their configuration (cluster.labels): zone (node-1: b), disk',
    ]);
  });

  it('that select no node must be asked for', () => {
    const made = plan([pool('a', '10.0.0.0/16', { nodeSelector: '!all()' })]);
    expect(made.pools[0]).toMatchObject({ assignment: 'manual', nodeSelector: '' });
    expect(diagnosticsOf(made, 'warning')).toHaveLength(1);
  });

  it('for load balancers or tunnels alone are left out, with a note', () => {
    const made = plan([
      pool('lb', '10.0.0.0/16', { allowedUses: ['LoadBalancer'] }),
      pool('tunnels', '10.1.0.0/16', { allowedUses: ['Tunnel'] }),
    ]);
    expect(made.pools).toEqual([]);
    expect(diagnosticsOf(made, 'note')).toEqual([
      'IPPool lb: is for LoadBalancer alone and left out: pods have no addresses of it',
      'IPPool tunnels: is for Tunnel alone and left out: pods have no addresses of it',
    ]);
  });

  it('say what of them cannot be kept', () => {
    const made = plan([
      {
        ...pool('a', '10.0.0.0/16', {
          namespaceSelector: 'team == "red"',
          disableBGPExport: true,
          allowedUses: ['Workload'],
        }),
        metadata: { name: 'a', deletionTimestamp: '2024-03-01T10:00:00Z' },
      },
    ]);
    expect(made.pools[0]?.disabled).toBe(true);
    expect(made.diagnostics.map(({ level, field }) => `${level} ${field}`)).toEqual([
      'warning metadata.deletionTimestamp',
      'warning spec.namespaceSelector',
      'warning spec.disableBGPExport',
      'warning spec.allowedUses',
    ]);
  });

  it('have the reservations that lie in them', () => {
    const made = plan([
      pool('a', '10.0.0.0/16'),
      pool('b', '10.1.0.0/16'),
      pool('whole', '10.2.0.0/24'),
      resource('IPReservation', 'r', {
        reservedCIDRs: ['10.0.0.0/30', '10.1.0.7/32', '10.2.0.0/16', '192.0.2.0/24'],
      }),
    ]);
    expect(made.pools.map(({ reserved }) => reserved)).toEqual([
      ['10.0.0.0/30'],
      ['10.1.0.7/32'],
      ['10.2.0.0/24'],
    ]);
    expect(diagnosticsOf(made, 'note')).toEqual([
      'IPReservation r: 192.0.2.0/24 lies in no pool and is left out',
    ]);
  });

  it('follow the configuration of IPAM', () => {
    const made = plan([
      pool('a', '10.0.0.0/16'),
      resource('IPAMConfig', 'default', {
        strictAffinity: true,
        autoAllocateBlocks: false,
        maxBlocksPerHost: 4,
        ipCooldownSeconds: 60,
      }),
    ]);
    expect(made.pools[0]).toMatchObject({ borrowing: false, maxBlocksPerNode: 4 });
    expect(made.diagnostics.map(({ level, object }) => `${level} ${object}`)).toEqual([
      'warning IPAMConfig',
      'note IPAMConfig',
    ]);
  });

  it('are refused all at once when they cannot be, with object and field', () => {
    const made = plan([
      pool('modes', '10.0.0.0/16', { ipipMode: 'Always', vxlanMode: 'Always' }),
      pool('overlap', '10.0.128.0/17'),
      pool('selector', '10.2.0.0/16', { nodeSelector: 'a == "1" || b == "2"' }),
      pool('cidr', '10.300.0.0/16'),
      pool('blocks', '10.3.0.0/16', { blockSize: 33 }),
      pool('mode', '10.4.0.0/16', { vxlanMode: 'Sometimes' }),
      pool('name with spaces', '10.5.0.0/16'),
      pool('local', '169.254.0.0/16'),
    ]);
    const errors = made.diagnostics.filter(({ level }) => level === 'error');
    expect(errors.map(({ object, field }) => `${object}: ${field}`)).toEqual([
      'IPPool cidr: spec.cidr',
      'IPPool mode: spec.vxlanMode',
      'IPPool modes: spec.ipipMode',
      'IPPool selector: spec.nodeSelector',
      'IPPool overlap: cidr',
      'IPPool blocks: blockSize',
      'IPPool name with spaces: name',
      'IPPool local: cidr',
    ]);
  });
});
