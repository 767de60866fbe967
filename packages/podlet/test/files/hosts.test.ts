import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildHosts, writeInPlace } from '../../src/files/hosts.js';
import { makePod } from '../runtime-config/make-pod.js';
import { temporaryDirectories } from './temporary.js';

const directory = temporaryDirectories();
const lines = (...args: Parameters<typeof buildHosts>) =>
  buildHosts(...args)
    .split('\n')
    .slice(1);
const build = (spec: Parameters<typeof makePod>[0], addresses: string[] = [], node = '') =>
  lines(makePod(spec), addresses, 'cluster.local', node);

describe('content', () => {
  test('localhost, then the pod under each of its addresses', () => {
    expect(build({}, ['10.1.0.7', 'fd00::7'])).toEqual([
      '127.0.0.1\tlocalhost',
      '::1\tlocalhost ip6-localhost ip6-loopback',
      'fe00::0\tip6-localnet',
      'ff00::0\tip6-mcastprefix',
      'ff02::1\tip6-allnodes',
      'ff02::2\tip6-allrouters',
      '10.1.0.7\tweb',
      'fd00::7\tweb',
      '',
    ]);
  });

  test('the full name comes first', () => {
    expect(build({ hostname: 'db-0', subdomain: 'db' }, ['10.1.0.7'])).toContain(
      '10.1.0.7\tdb-0.db.shop.svc.cluster.local\tdb-0',
    );
  });

  test('aliases at the end', () => {
    const hostAliases = [
      { ip: '192.0.2.9', hostnames: ['a', 'a.example'] },
      { ip: '::2', hostnames: ['b'] },
    ];
    expect(build({ hostAliases }, ['10.1.0.7']).slice(-4)).toEqual([
      '# hostAliases',
      '192.0.2.9\ta\ta.example',
      '::2\tb',
      '',
    ]);
  });

  test('on the host’s network the node’s own, and aliases', () => {
    const spec = { hostNetwork: true, hostAliases: [{ ip: '192.0.2.9', hostnames: ['a'] }] };
    expect(build(spec, ['10.1.0.7'], '127.0.0.1 localhost\n192.0.2.1 node\n')).toEqual([
      '127.0.0.1 localhost',
      '192.0.2.1 node',
      '',
      '# hostAliases',
      '192.0.2.9\ta',
      '',
    ]);
  });
});

test('the file stays the same one, whatever is written into it', async () => {
  const file = path.join(directory(), 'pod', 'etc-hosts');
  await writeInPlace(file, 'first');
  const { ino } = fs.statSync(file);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 50 }), async (content) => {
      await writeInPlace(file, content);
      expect(fs.readFileSync(file)).toEqual(Buffer.from(content));
      expect(fs.statSync(file).ino).toBe(ino);
    }),
  );
  expect(fs.statSync(file).mode & 0o777).toBe(0o644);
});
