import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NamespaceMode, PodSandboxConfig } from '@podwire/cri';
import { fnv32a } from '@podwire/linux';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCheckpoint, openCheckpoints } from '../src/checkpoint/checkpoint.js';
import { checkpointChecksums } from '../src/checkpoint/checksum.js';

let root = '';
const warnings: string[] = [];
const silent = (): void => undefined;
const log = {
  debug: silent,
  info: silent,
  warn: (_: object, text: string) => void warnings.push(text),
  error: silent,
};
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'pws-'));
  warnings.length = 0;
});
afterEach(() => fs.rmSync(root, { recursive: true }));

const id = 'a'.repeat(64);
const config = PodSandboxConfig.fromPartial({
  metadata: { name: 'web', namespace: 'prod', uid: 'u' },
  portMappings: [{ protocol: 2, containerPort: 80, hostPort: 8080, hostIp: '192.0.2.1' }],
  linux: { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } },
});

const plain = PodSandboxConfig.fromPartial({ metadata: { name: 'web', namespace: 'prod', uid: 'u' } });

test('the fields of a file are dockershim’s', async () => {
  await openCheckpoints(root, log).write(id, makeCheckpoint(config));
  const text = fs.readFileSync(path.join(root, 'sandbox', id), 'utf8');
  expect(text).toMatch(
    /^\{"version":"v1","name":"web","namespace":"prod","data":\{"port_mappings":\[\{"protocol":"sctp","container_port":80,"host_port":8080,"host_ip":"192.0.2.1"\}\],"host_network":true\},"checksum":\d+\}\n$/,
  );
});

test('what is empty is left out, as Go does it', async () => {
  await openCheckpoints(root, log).write(id, makeCheckpoint(plain));
  const text = fs.readFileSync(path.join(root, 'sandbox', id), 'utf8');
  expect(text).toBe('{"version":"v1","name":"web","namespace":"prod","data":{},"checksum":815459779}\n');
  expect(await openCheckpoints(root, log).read(id)).toEqual(makeCheckpoint(plain));
});

/**
 * Made with Go 1.19 and github.com/davecgh/go-spew 1.1.1, of structures with the fields and the names of dockershim's (packages
 * `dockershim`) and of cri-dockerd's (`core` and `config`).
 */
const goldens: readonly [data: object, dockershim: number, criDockerd: number][] = [
  [{ port_mappings: [] }, 3585831124, 3930330829],
  [{}, 815459779, 2305795928],
  [{ host_network: true }, 996107268, 12315789],
  [
    { port_mappings: [{ protocol: 'tcp', container_port: 80, host_port: 8080 }] },
    ...([928727533, 3712672205] as const),
  ],
  [
    {
      port_mappings: [
        { protocol: 'udp', container_port: 53, host_port: 5353, host_ip: '192.0.2.1' },
        { protocol: 'sctp', container_port: 3868, host_port: 0, host_ip: '::1' },
      ],
    },
    ...([967815718, 598777873] as const),
  ],
  [{ port_mappings: [{ host_ip: '10.0.0.1' }] }, 1524192703, 3570965023],
  [
    {
      port_mappings: [{ protocol: 'tcp', container_port: -1, host_port: 65535, host_ip: 'a"b\\c\n' }],
      host_network: true,
    },
    ...([5002298, 109985818] as const),
  ],
];

test.each(goldens)('%j has the checksums that Go computes', (data, dockershim, criDockerd) => {
  expect(checkpointChecksums.slice(0, 2).map((checksum) => checksum(data))).toEqual([dockershim, criDockerd]);
});

test.each([
  ['dockershim', 928727533],
  ['cri-dockerd', 3712672205],
  [
    'Podwire up to 0.1.0',
    fnv32a('{"port_mappings":[{"protocol":"tcp","container_port":80,"host_port":8080}]}'),
  ],
])('a file of %s is read', async (_program, checksum) => {
  const data = { port_mappings: [{ protocol: 'tcp', container_port: 80, host_port: 8080 }] };
  fs.mkdirSync(path.join(root, 'sandbox'));
  const file = { version: 'v1', name: 'web', namespace: 'prod', data, checksum };
  fs.writeFileSync(path.join(root, 'sandbox', id), JSON.stringify(file));
  expect(await openCheckpoints(root, log).read(id)).toEqual({
    ...{ version: 'v1', name: 'web', namespace: 'prod' },
    port_mappings: [{ protocol: 'tcp', container_port: 80, host_port: 8080, host_ip: '' }],
    host_network: false,
  });
});

test('what was written is read, listed and removed', async () => {
  const checkpoints = openCheckpoints(root, log);
  expect(await checkpoints.ids()).toEqual([]);
  expect(await checkpoints.read(id)).toBeUndefined();
  await checkpoints.write(id, makeCheckpoint(config));
  expect(await checkpoints.read(id)).toEqual(makeCheckpoint(config));
  expect(await checkpoints.ids()).toEqual([id]);
  await checkpoints.remove(id);
  await checkpoints.remove(id);
  expect(await checkpoints.ids()).toEqual([]);
});

test.each([
  ['empty', () => ''],
  ['no JSON', () => '{"version":'],
  ['changed', (text: string) => text.replace('8080', '8081')],
  ['of another version', (text: string) => text.replace('"v1"', '"v2"')],
])('one that is %s is set aside, and said', async (_what, damage) => {
  const checkpoints = openCheckpoints(root, log);
  await checkpoints.write(id, makeCheckpoint(config));
  const file = path.join(root, 'sandbox', id);
  const damaged = damage(fs.readFileSync(file, 'utf8'));
  fs.writeFileSync(file, damaged);
  expect(await checkpoints.read(id)).toBeUndefined();
  expect(await checkpoints.ids()).toEqual([]);
  expect(fs.readFileSync(path.join(root, 'sandbox.unreadable', id), 'utf8')).toBe(damaged);
  expect(warnings).toEqual(['a checkpoint of a sandbox that cannot be used is set aside']);
});

test('a disk that is full is a coded error', async () => {
  const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  const checkpoints = openCheckpoints(root, log, {
    ...fs.promises,
    open: () => Promise.reject(full),
  });
  await expect(checkpoints.write(id, makeCheckpoint(config))).rejects.toMatchObject({ code: 'RECORD_IO' });
});
