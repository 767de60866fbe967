import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CachedAttachment, type CacheFiles } from '../../src/index.js';
import { createResultCache } from '../../src/runtime/cache.js';
import { type CacheDirectory, createCacheDirectory } from '../support/cache-directory.js';

let place: CacheDirectory;
beforeEach(() => (place = createCacheDirectory()));
afterEach(() => place.remove());

const attachment: CachedAttachment = {
  network: 'net',
  containerId: 'pod',
  interfaceName: 'eth0',
  netns: '/run/netns/pod',
  config: '{"name":"net"}',
  result: { cniVersion: '1.0.0' },
};
const create = (options: { durable?: boolean; files?: CacheFiles } = {}) =>
  createResultCache({ directory: place.directory, ...options });

test('directory 0700, file 0600, read back as written', async () => {
  const cache = create();
  await cache.write(attachment);
  const file = path.join(place.directory, 'results/net-pod-eth0');
  expect(cache.fileOf('net', attachment)).toBe(file);
  expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(await cache.read('net', attachment)).toEqual({ kind: 'attachment', attachment });
  await cache.remove('net', attachment);
  await cache.remove('net', attachment);
  expect(await cache.read('net', attachment)).toEqual({ kind: 'none' });
  expect(place.names()).toEqual([]);
});

/** libcni's own output for one bridge ADD (field names and order from Go's struct, map keys sorted). */
const written =
  '{"kind":"cniCacheV1","containerId":"pod","config":"eyJuYW1lIjoibmV0In0=","ifName":"eth0","networkName":"net",' +
  '"netns":"/run/netns/pod","cniArgs":[["K8S_POD_NAME","web"]],"capabilityArgs":{"portMappings":[{"hostPort":80}]},' +
  '"result":{"cniVersion":"0.4.0","dns":{},"ips":[{"address":"10.0.0.2/24","version":"4"}]}}';

test('a file of libcni is read, and written again byte by byte', async () => {
  place.write('net-pod-eth0', written);
  const cache = create({ durable: false });
  const content = await cache.read('net', attachment);
  expect(content).toEqual({
    kind: 'attachment',
    attachment: {
      ...attachment,
      args: [['K8S_POD_NAME', 'web']],
      capabilityArgs: { portMappings: [{ hostPort: 80 }] },
      result: { cniVersion: '0.4.0', dns: {}, ips: [{ address: '10.0.0.2/24', version: '4' }] },
    },
  });
  if (content.kind === 'attachment') await cache.write(content.attachment);
  expect(fs.readFileSync(cache.fileOf('net', attachment), 'utf8')).toBe(written);
});

test('empty arguments and an empty namespace are left out, as Go’s omitempty does', async () => {
  const cache = create({ durable: false });
  await cache.write({ ...attachment, netns: '', args: [], capabilityArgs: {} });
  expect(Object.keys(place.read('net-pod-eth0'))).toEqual([
    'kind',
    'containerId',
    'config',
    'ifName',
    'networkName',
    'result',
  ]);
});

/** Records the calls that matter for durability. */
function recording(log: string[], fault?: string): CacheFiles {
  const { open, rename } = fs.promises;
  const fail = (what: string) => {
    log.push(what);
    if (what === fault) throw Object.assign(new Error(`fault at ${what}`), { code: 'ENOSPC' });
  };
  return {
    ...fs.promises,
    open: async (file, flags, mode) => {
      const handle = await open(file, flags, mode);
      const kind = flags === 'r' ? 'directory' : 'file';
      return new Proxy(handle, {
        get: (target, key) => {
          if (key === 'sync') return () => (fail(`sync ${kind}`), target.sync());
          if (key === 'writeFile') return (data: string) => (fail('write'), target.writeFile(data));
          const value: unknown = Reflect.get(target, key);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
    },
    rename: (from, to) => {
      fail('rename');
      return rename(from, to);
    },
  };
}

describe('writing', () => {
  test.each([
    [true, ['write', 'sync file', 'rename', 'sync directory']],
    [false, ['write', 'rename']],
  ])('durable %s', async (durable, expected) => {
    const log: string[] = [];
    await create({ durable, files: recording(log) }).write(attachment);
    expect(log).toEqual(expected);
  });

  test.each(['write', 'sync file', 'rename'])(
    'a fault at %s leaves the old content and no other file',
    async (fault) => {
      await create().write(attachment);
      const changed = { ...attachment, netns: '/other' };
      await expect(create({ files: recording([], fault) }).write(changed)).rejects.toMatchObject({
        code: 5,
        message: expect.stringContaining(`fault at ${fault}`) as string,
      });
      expect(place.names()).toEqual(['net-pod-eth0']);
      expect(await create().read('net', attachment)).toEqual({ kind: 'attachment', attachment });
    },
  );

  test('many at once neither mix nor leave temporary files', async () => {
    const cache = create({ durable: false });
    const pods = Array.from({ length: 40 }, (_, n) => ({ ...attachment, containerId: `pod${n}` }));
    await Promise.all([...pods, ...pods].map((one) => cache.write(one)));
    const listed = await cache.list();
    expect(listed).toHaveLength(40);
    expect(new Set(listed.map(({ content }) => content.kind))).toEqual(new Set(['attachment']));
    expect(place.names()).toHaveLength(40);
  });
});

describe('reading', () => {
  test.each(['', '{', '"x"', '{"kind":"cniCacheV1","containerId":3}', '\0'.repeat(512)])(
    '%j is of no use',
    async (text) => {
      place.write('net-pod-eth0', text);
      expect(await create().read('net', attachment)).toMatchObject({
        kind: 'unreadable',
        error: { code: 6 },
      });
    },
  );
  test('an I/O error is told apart from useless content', async () => {
    const files: CacheFiles = {
      ...fs.promises,
      readFile: (() =>
        Promise.reject(Object.assign(new Error('no'), { code: 'EIO' }))) as CacheFiles['readFile'],
    };
    expect(await create({ files }).read('net', attachment)).toMatchObject({
      kind: 'unreadable',
      error: { code: 5 },
    });
  });
  test('any other object is a bare result', async () => {
    place.write('net-pod-eth0', '{"ip4":{"ip":"10.0.0.2/24"}}');
    expect(await create().read('net', attachment)).toEqual({
      kind: 'bare-result',
      result: { ip4: { ip: '10.0.0.2/24' } },
    });
  });
});

test('a name that no file can have is refused with code 4', () => {
  const fileOf = (length: number) =>
    create().fileOf('n', { containerId: 'x'.repeat(length), interfaceName: 'eth0' });
  expect(path.basename(fileOf(248))).toHaveLength(255);
  expect(() => fileOf(249)).toThrow(expect.objectContaining({ code: 4 }));
});
