import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { formatResolvConf } from '@podwire/cri';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rewriteResolvConf } from '../../src/sandboxes/resolv-conf.js';

let directory = '';
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pws-'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const dns = {
  servers: ['10.0.0.10', '10.0.0.11'],
  searches: ['a.example', 'b.example'],
  options: ['ndots:5', 'rotate'],
};

test('lines are as resolv.conf(5) has them', () => {
  expect(formatResolvConf(dns)).toBe(
    'nameserver 10.0.0.10\nnameserver 10.0.0.11\nsearch a.example b.example\noptions ndots:5 rotate\n',
  );
  expect(formatResolvConf({ servers: [], searches: [], options: [] })).toBe('');
});

test('the file is filled anew, and stays the same file', async () => {
  const file = path.join(directory, 'resolv.conf');
  fs.writeFileSync(file, `${'# a long comment of before\n'.repeat(20)}`);
  const { ino } = fs.statSync(file);
  await rewriteResolvConf(file, dns);
  expect(fs.readFileSync(file, 'utf8')).toBe(formatResolvConf(dns));
  expect(fs.statSync(file).ino).toBe(ino);
});

test('a configuration that asks for nothing leaves it alone', async () => {
  await rewriteResolvConf(path.join(directory, 'missing'), { servers: [], searches: [], options: [] });
});

test('a missing file is an error, and is not made', async () => {
  const file = path.join(directory, 'missing');
  await expect(rewriteResolvConf(file, dns)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(fs.existsSync(file)).toBe(false);
});
