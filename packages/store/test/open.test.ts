import { PodwireError } from '@podwire/errors';
import { expect, test } from 'vitest';
import { parseStoreUrl, plainEndpoints, storeSpecSchema } from '../src/index.js';

test.each([
  ['embedded:/var/lib/podwire/store', { kind: 'embedded', directory: '/var/lib/podwire/store' }],
  ['etcd://h:2379,h2:2380', { kind: 'etcd', endpoints: ['http://h:2379', 'http://h2:2380'] }],
  ['etcds://etcd.example.org/', { kind: 'etcd', endpoints: ['https://etcd.example.org:2379'] }],
  [
    'etcd://[fd00::1],10.0.0.2',
    { kind: 'etcd', endpoints: ['http://[fd00::1]:2379', 'http://10.0.0.2:2379'] },
  ],
  ['consul://c', { kind: 'consul', endpoints: ['http://c:8500'] }],
  ['consuls://c:8501', { kind: 'consul', endpoints: ['https://c:8501'] }],
])('%s', (text, spec) => {
  expect(parseStoreUrl(text)).toEqual(spec);
  expect(storeSpecSchema.parse(spec)).toEqual(spec);
});

test.each([
  ['', 'begins with none'],
  ['redis://h', 'begins with none'],
  ['etcd:h', 'begins with none'],
  ['embedded:store', 'directory "store"'],
  ['embedded:/', 'directory "/"'],
  ['etcd://', 'endpoint ""'],
  ['etcd://a,,b', 'endpoint ""'],
  ['etcd://a:0', 'endpoint "a:0"'],
  ['etcd://a:65536', 'endpoint "a:65536"'],
  ['etcd://a:x', 'endpoint "a:x"'],
  ['etcd://a b', 'endpoint "a b"'],
  ['etcd://a/b', 'endpoint "a/b"'],
  ['etcd://fd00::1', 'endpoint "fd00::1"'],
  ['etcd://[fd00:::1]', 'endpoint'],
])('%s is refused, with the part that is wrong', (text, part) => {
  expect(() => parseStoreUrl(text)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID' }) as PodwireError,
  );
  expect(() => parseStoreUrl(text)).toThrow(part);
});

test('a password is refused and not repeated', () => {
  const message = catchMessage(() => parseStoreUrl('etcd://root:secret@h'));
  expect(message).toContain('passwordFile');
  expect(message).not.toContain('secret');
});

test.each([
  [{ kind: 'etcd', endpoints: [] }, 'endpoints'],
  [{ kind: 'etcd', endpoints: ['h:2379'] }, 'endpoints.0'],
  [{ kind: 'etcd', endpoints: ['http://u:p@h:2379'] }, 'endpoints.0'],
  [{ kind: 'etcd', endpoints: ['http://h:2379/v3'] }, 'endpoints.0'],
  [{ kind: 'etcd', endpoints: ['http://h'], tls: { ca: '/ca.pem' } }, 'tls'],
  [{ kind: 'etcd', endpoints: ['https://h'], tls: { key: '/k.pem' } }, 'tls'],
  [{ kind: 'etcd', endpoints: ['https://h'], username: 'root' }, 'passwordFile'],
  [{ kind: 'consul', endpoints: ['http://h'], tokenFile: 'token' }, 'tokenFile'],
  [{ kind: 'consul', endpoints: ['http://h'], token: 'x' }, ''],
  [{ kind: 'embedded', directory: 'x' }, 'directory'],
])('%j is refused at %s', (spec, field) => {
  const result = storeSpecSchema.safeParse(spec);
  expect(result.error?.issues[0]?.path.join('.')).toBe(field);
});

test('a whole specification is taken as it is', () => {
  const spec = {
    kind: 'etcd',
    endpoints: ['https://a:2379', 'https://b:2379'],
    tls: { ca: '/ca.pem', certificate: '/c.pem', key: '/k.pem', serverName: 'etcd' },
    username: 'podwire',
    passwordFile: '/etc/podwire/etcd-password',
  };
  expect(storeSpecSchema.parse(spec)).toEqual(spec);
});

function catchMessage(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof PodwireError) return error.message;
    throw error;
  }
  return expect.fail('it was taken');
}

test.each(['ETCD://user:secret@host', 'https://user:secret@host:2379'])(
  'a message about %s has no password',
  (url) => {
    expect(() => parseStoreUrl(url)).toThrow(/^(?!.*secret)/s);
  },
);

test('endpoints without encryption beyond this machine are known', () => {
  const endpoints = [
    'http://127.0.0.1:1',
    'http://localhost:1',
    'http://[::1]:1',
    'https://192.0.2.1:1',
    'http://192.0.2.5:1',
  ];
  expect(plainEndpoints({ kind: 'etcd', endpoints })).toEqual(['http://192.0.2.5:1']);
  expect(plainEndpoints({ kind: 'embedded', directory: '/d' })).toEqual([]);
});
