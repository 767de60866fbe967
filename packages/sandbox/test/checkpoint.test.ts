import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NamespaceMode, PodSandboxConfig } from '@podwire/cri';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCheckpoint, openCheckpoints } from '../src/checkpoint/checkpoint.js';

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

test('the fields of a file are dockershim’s', async () => {
  await openCheckpoints(root, log).write(id, makeCheckpoint(config));
  const text = fs.readFileSync(path.join(root, 'sandbox', id), 'utf8');
  expect(text).toMatch(
    /^\{"version":"v1","name":"web","namespace":"prod","data":\{"port_mappings":\[\{"protocol":"sctp","container_port":80,"host_port":8080,"host_ip":"192.0.2.1"\}\],"host_network":true\},"checksum":\d+\}\n$/,
  );
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
])('one that is %s is deleted, and said', async (_what, damage) => {
  const checkpoints = openCheckpoints(root, log);
  await checkpoints.write(id, makeCheckpoint(config));
  const file = path.join(root, 'sandbox', id);
  fs.writeFileSync(file, damage(fs.readFileSync(file, 'utf8')));
  expect(await checkpoints.read(id)).toBeUndefined();
  expect(fs.existsSync(file)).toBe(false);
  expect(warnings).toEqual(['a corrupt checkpoint of a sandbox is deleted']);
});

test('a disk that is full is a coded error', async () => {
  const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  const checkpoints = openCheckpoints(root, log, {
    ...fs.promises,
    open: () => Promise.reject(full),
  });
  await expect(checkpoints.write(id, makeCheckpoint(config))).rejects.toMatchObject({ code: 'RECORD_IO' });
});
