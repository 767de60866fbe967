import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { linuxRegistry } from '@podwire/backend-linux';
import { podResources } from '@podwire/backend-linux/fake';
import { openRecordDirectory, type RecordFiles } from '../../src/records/directory.js';
import type { EndpointRecord } from '../../src/records/record.js';

let directory: string;
beforeEach(() => (directory = fs.mkdtempSync(path.join(os.tmpdir(), 'records-'))));
afterEach(() => fs.rmSync(directory, { recursive: true }));

const record = (n: number): EndpointRecord => ({
  version: 1,
  id: { containerId: `c${n}`, ifName: 'eth0', network: 'default' },
  phase: 'wiring',
  pod: { namespace: 'shop', name: `web-${n}` },
  namespace: { path: `/run/netns/c${n}`, device: 4, inode: 4026532000 + n },
  leases: [{ address: `10.9.0.${n}`, pool: 'default' }],
  endpoint: { network: 'default', mac: '02:00:00:00:00:01', portMappings: [], hostLinks: [`cali${n}`] },
  resources: podResources(n),
  answer: { cniVersion: '1.1.0' },
  createdAt: 1_000 + n,
});

const files = (): string[] => fs.readdirSync(directory).sort();

test('a record comes back as it was written, in the phase it was moved to', () => {
  const records = openRecordDirectory(directory, linuxRegistry);
  records.write(record(1));
  records.advance(record(1), 'ready');
  records.write(record(2));
  const read = openRecordDirectory(directory, linuxRegistry).readAll();
  expect(read.broken).toEqual([]);
  expect(read.records.toSorted((a, b) => a.createdAt - b.createdAt)).toEqual([
    { ...record(1), phase: 'ready' },
    record(2),
  ]);
});

test('the phase is the extension, and only its owner may read it', () => {
  const records = openRecordDirectory(path.join(directory, 'endpoints'), linuxRegistry);
  records.write(record(1));
  const [name] = fs.readdirSync(path.join(directory, 'endpoints'));
  expect(name).toBe('default,c1,eth0.wiring');
  expect(fs.statSync(path.join(directory, 'endpoints')).mode & 0o777).toBe(0o700);
  expect(fs.statSync(path.join(directory, 'endpoints', name!)).mode & 0o777).toBe(0o600);
});

test('a record is deleted in the phase it is in, and deleting it twice is fine', () => {
  const records = openRecordDirectory(directory, linuxRegistry);
  records.write(record(1));
  const removing = records.advance(records.advance(record(1), 'ready'), 'removing');
  records.delete(removing);
  records.delete(removing);
  expect(files()).toEqual([]);
});

test.each([
  ['default,c9,eth0.wiring', '{"version":1,"id"'],
  ['default,c9,eth0.ready', ''],
  ['default,c9,eth0.ready', '{"version":2}'],
  ['other,c9,eth0.ready', JSON.stringify(record(9))],
  ['notes.txt', 'hello'],
])('%s that says %j is reported and harms no other endpoint', (name, text) => {
  const records = openRecordDirectory(directory, linuxRegistry);
  records.write(record(1));
  fs.writeFileSync(path.join(directory, name), text);
  const read = records.readAll();
  expect(read.records).toEqual([record(1)]);
  expect(read.broken).toMatchObject([{ name, reason: expect.stringMatching(/./) as string }]);
});

const veth = podResources(9)[0]!;
test.each([
  ['null', null],
  ['resources', { ...record(9), resources: null }],
  ['resources.0', { ...record(9), resources: [null] }],
  ['resources.0.kind', { ...record(9), resources: [{ kind: 'flow', table: 0 }] }],
  [
    'resources.0.host.name',
    { ...record(9), resources: [{ ...veth, host: { name: '../x', mac: '02:00:00:00:00:01' } }] },
  ],
  ['leases', { ...record(9), leases: undefined }],
  ['leases.0.address', { ...record(9), leases: [{ address: '10.9.0.999', pool: 'p' }] }],
  ['endpoint', { ...record(9), endpoint: null }],
  ['endpoint.mac', { ...record(9), endpoint: { network: 'default', mac: 7 } }],
  ['answer', { ...record(9), answer: null }],
  ['answer: result: ips[0].address', { ...record(9), answer: { cniVersion: '1.1.0', ips: [{}] } }],
  ['answer: a result of version 0.4.0', { ...record(9), answer: { cniVersion: '0.4.0' } }],
  ['pod', { ...record(9), pod: null }],
  ['namespace', { ...record(9), namespace: null }],
  ['id', { ...record(9), id: null }],
  ['version 2', { ...record(9), version: 2 }],
])('JSON that is no record because of %s is reported, and can be discarded', (where, content) => {
  const records = openRecordDirectory(directory, linuxRegistry);
  records.write(record(1));
  const name = 'default,c9,eth0.ready';
  fs.writeFileSync(path.join(directory, name), JSON.stringify(content));
  const read = records.readAll();
  expect(read.records).toEqual([record(1)]);
  expect(read.broken).toMatchObject([{ name, id: record(9).id, phase: 'ready' }]);
  if (where !== 'null') expect(read.broken[0]!.reason).toContain(where);
  records.discard(read.broken[0]!);
  expect(files()).toEqual(['default,c1,eth0.wiring']);
});

test.each([
  ['a directory', (file: string) => fs.mkdirSync(path.join(file, 'full'), { recursive: true })],
  ['a FIFO', (file: string) => execFileSync('mkfifo', [file])],
  ['a symbolic link', (file: string) => fs.symlinkSync('/dev/zero', file)],
])('%s in the place of a record neither hangs nor hurts, and can be discarded', (_, make) => {
  const records = openRecordDirectory(directory, linuxRegistry);
  records.write(record(1));
  make(path.join(directory, 'default,c9,eth0.wiring'));
  const { broken, records: read } = records.readAll();
  expect(read).toEqual([record(1)]);
  expect(broken).toMatchObject([{ name: 'default,c9,eth0.wiring', id: record(9).id }]);
  records.discard(broken[0]!);
  expect(records.readAll().broken.filter(({ id }) => id !== undefined)).toEqual([]);
});

test('a full disk stops a write, leaves no torn file, and stops no other phase', () => {
  const records = openRecordDirectory(directory, linuxRegistry);
  records.write(record(1));
  const full: RecordFiles = {
    ...fs,
    writeFileSync: (file: fs.PathOrFileDescriptor) => {
      fs.writeFileSync(file, '{"version":1,"id"');
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  };
  const onFullDisk = openRecordDirectory(directory, linuxRegistry, full);
  expect(() => onFullDisk.write(record(2))).toThrow(/cannot write .*default,c2,eth0\.wiring: no space left/);
  expect(files()).toEqual(['default,c1,eth0.wiring']);
  onFullDisk.delete(onFullDisk.advance(record(1), 'removing'));
  expect(files()).toEqual([]);
});

test.each([246, 247, 248, 300])('a record whose key has %i bytes goes through all phases', (bytes) => {
  const records = openRecordDirectory(directory, linuxRegistry);
  const id = { containerId: 'c'.repeat(100), ifName: 'eth0', network: 'n'.repeat(bytes - 106) };
  const long = { ...record(1), id };
  records.write(long);
  const ready = records.advance(long, 'ready');
  expect(openRecordDirectory(directory, linuxRegistry).readAll()).toEqual({ records: [ready], broken: [] });
  const removing = records.advance(ready, 'removing');
  expect(openRecordDirectory(directory, linuxRegistry).readAll()).toEqual({
    records: [removing],
    broken: [],
  });
  records.delete(removing);
  expect(files()).toEqual([]);
});

test('a record that was deleted by hand can still be marked as going', () => {
  const records = openRecordDirectory(directory, linuxRegistry);
  records.write(record(1));
  fs.rmSync(path.join(directory, 'default,c1,eth0.wiring'));
  const removing = records.advance(record(1), 'removing');
  expect(openRecordDirectory(directory, linuxRegistry).readAll().records).toEqual([removing]);
});

test.each(['EROFS', 'ENAMETOOLONG'])('deleting what was never written is fine where it says %s', (code) => {
  const refusing: RecordFiles = {
    ...fs,
    unlinkSync: () => {
      throw Object.assign(new Error(code), { code });
    },
  };
  const records = openRecordDirectory(directory, linuxRegistry, refusing);
  expect(() => records.delete(record(1))).not.toThrow();
  records.write(record(1));
  expect(() => records.delete(record(1))).toThrow(code);
});
