import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodeAddresses } from '@podwire/addresses';
import { type NodeOptions, readNode, resolvConfFile } from '../../src/node/index.js';
import { temporaryDirectories } from '../files/temporary.js';

const temporary = temporaryDirectories();
type Interfaces = ReturnType<typeof os.networkInterfaces>;

function entry(address: string, internal = false): NonNullable<Interfaces[string]>[number] {
  const rest = { address, internal, netmask: '', mac: '', cidr: null };
  return address.includes(':') ? { ...rest, family: 'IPv6', scopeid: 0 } : { ...rest, family: 'IPv4' };
}

test('addresses of the node are IPv4 first, without those that only this machine knows', () => {
  const interfaces = {
    lo: [entry('127.0.0.1', true), entry('::1', true)],
    docker0: [entry('172.17.0.1')],
    'br-0123456789ab': [entry('172.18.0.1')],
    'podwire-vx': [entry('10.128.0.1')],
    eth0: [entry('2001:db8::5'), entry('fe80::1'), entry('192.0.2.5')],
    eth1: [entry('169.254.3.4'), entry('198.51.100.5')],
  };
  expect(nodeAddresses(interfaces)).toEqual(['192.0.2.5', '198.51.100.5', '2001:db8::5']);
  const { lo, docker0 } = interfaces;
  expect(nodeAddresses({ lo, docker0 })).toEqual(['172.17.0.1']);
  const system = { ...os, networkInterfaces: () => interfaces };
  expect(readNode({ system }).addresses).toEqual(['192.0.2.5', '2001:db8::5']);
});

describe('resolv.conf', () => {
  const stub = 'nameserver 127.0.0.53\noptions edns0\n';
  const real = 'nameserver 192.0.2.1\n';
  test.each([
    ['a stub', stub, real, 'upstream'],
    ['a stub on IPv6', 'nameserver ::1\n', real, 'upstream'],
    ['a stub and nothing behind it', stub, undefined, 'usual'],
    ['a stub and an empty file behind it', stub, '# nothing\n', 'usual'],
    ['a real one', real, real, 'usual'],
    ['a stub beside a real one', stub + real, 'nameserver 9.9.9.9\n', 'usual'],
    ['none', undefined, real, 'usual'],
    ['an empty one', '', real, 'usual'],
  ])('%s', async (_, usualText, upstreamText, expected) => {
    const root = temporary();
    const places = { usual: path.join(root, 'usual'), upstream: path.join(root, 'upstream') };
    if (usualText !== undefined) fs.writeFileSync(places.usual, usualText);
    if (upstreamText !== undefined) fs.writeFileSync(places.upstream, upstreamText);
    expect(path.basename(await resolvConfFile(places))).toBe(expected);
  });
});

describe('the node', () => {
  const system: NonNullable<NodeOptions['system']> = {
    cpus: () => Array.from({ length: 4 }, () => os.cpus()[0]!),
    arch: () => 'x64',
    hostname: () => 'Node-1.Example ',
    totalmem: () => 4096,
    networkInterfaces: () => ({ eth0: [entry('192.0.2.5')] }),
  };

  test('by itself', () => {
    expect(readNode({ system })).toMatchObject({
      name: 'node-1.example',
      addresses: ['192.0.2.5'],
      clusterDns: [],
      clusterDomain: 'cluster.local',
      memoryBytes: 4096n,
      milliCpu: 4000n,
      labels: {
        'kubernetes.io/hostname': 'node-1.example',
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
      },
      allowedUnsafeSysctls: [],
    });
    expect(readNode({ system: { ...system, cpus: () => [] } })).not.toHaveProperty('milliCpu');
    expect(readNode({ system })).not.toHaveProperty('oomScoreAdjustment');
  });

  test('as configured; files are read when they are asked for', async () => {
    const root = temporary();
    const files = { resolvConf: path.join(root, 'resolv.conf'), hostsFile: path.join(root, 'hosts') };
    const node = readNode({
      ...files,
      system,
      name: 'n',
      addresses: ['10.0.0.1'],
      oomScoreAdjustment: 0,
      cgroups: { driver: 'systemd' },
      labels: { disk: 'ssd', 'kubernetes.io/arch': 'own' },
    });
    expect(node.labels).toMatchObject({
      disk: 'ssd',
      'kubernetes.io/arch': 'own',
      'kubernetes.io/hostname': 'n',
    });
    expect(node).toMatchObject({
      name: 'n',
      addresses: ['10.0.0.1'],
      oomScoreAdjustment: 0,
      cgroups: { driver: 'systemd' },
    });
    await expect(node.hosts()).rejects.toMatchObject({ code: 'ENOENT' });
    for (const content of ['one', 'two']) {
      for (const file of Object.values(files)) fs.writeFileSync(file, content);
      expect([await node.resolvConf(), await node.hosts()]).toEqual([content, content]);
    }
    expect(await readNode({ system, resolvConf: '' }).resolvConf()).toBe('');
  });
});
