import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeAuth, parseDockerConfig, parseDockercfg } from '../../src/images/credentials.js';
import { createKeyring } from '../../src/images/keyring.js';
import { parseImageName } from '../../src/images/reference.js';

const ring = (...keys: string[]) =>
  createKeyring(keys.map((key) => ({ key, auth: { username: key, password: 'p', serveraddress: key } })));
const users = (keys: readonly string[], repository: string): (string | undefined)[] =>
  ring(...keys)
    .lookup(repository)
    .map(({ username }) => username);

describe('keys match', () => {
  test.each([
    ['registry.example', 'registry.example/team/app', true],
    ['registry.example', 'registry.example:5000/team/app', false],
    ['registry.example:5000', 'registry.example:5000/team/app', true],
    ['https://registry.example:5000/v1/', 'registry.example:5000/team/app', true],
    ['http://registry.example/v2/', 'registry.example/team/app', true],
    ['registry.example/team', 'registry.example/team/app', true],
    ['registry.example/other', 'registry.example/team/app', false],
    ['*.example', 'registry.example/app', true],
    ['*.example', 'deep.registry.example/app', false],
    ['*.*.example', 'deep.registry.example/app', true],
    ['r?gistry.example', 'registry.example/app', true],
    ['[a-r]egistry.example', 'registry.example/app', true],
    ['example', 'registry.example/app', false],
    ['127.0.0.1:5000', '127.0.0.1:5000/app', true],
    ['https://index.docker.io/v1/', 'docker.io/library/busybox', true],
    ['index.docker.io', 'docker.io/team/app', true],
    ['index.docker.io', 'registry.example/app', false],
    ['docker.io', 'docker.io/library/busybox', true],
  ])('%s to %s: %s', (key, repository, does) => {
    expect(users([key], repository).length > 0).toBe(does);
  });
});

test('all that match are given, the most special first', () => {
  const keys = [
    'registry.example',
    'registry.example/team/app',
    '*.example',
    'registry.example/team',
    'other.example',
  ];
  expect(users(keys, 'registry.example/team/app')).toEqual([
    'registry.example/team/app',
    'registry.example/team',
    'registry.example',
    '*.example',
  ]);
});

test('Docker Hub’s old key counts only where none matches', () => {
  expect(users(['https://index.docker.io/v1/', 'docker.io/team'], 'docker.io/team/app')).toEqual([
    'docker.io/team',
  ]);
});

test('the same credentials twice are one attempt', () => {
  const auth = { username: 'u', password: 'p' };
  const keyring = createKeyring([
    { key: 'registry.example', auth: { ...auth, serveraddress: 'registry.example' } },
    { key: '*.example', auth: { ...auth, serveraddress: '*.example' } },
  ]);
  expect(keyring.lookup('registry.example/app')).toHaveLength(1);
});

describe('files', () => {
  const auth = Buffer.from('user:pass:word').toString('base64');

  test('config.json, padded or not, split on the first colon', () => {
    for (const text of [auth, auth.replace(/=+$/, '')]) {
      const [entry] = parseDockerConfig(JSON.stringify({ auths: { 'r.example': { auth: text } } }));
      expect(entry).toEqual({
        key: 'r.example',
        auth: { username: 'user', password: 'pass:word', serveraddress: 'r.example' },
      });
    }
  });

  test('.dockercfg has its entries at the top, with the pair in clear too', () => {
    const text = JSON.stringify({ 'r.example': { username: 'u', password: 'p', email: 'e' } });
    expect(parseDockercfg(text)).toEqual([
      { key: 'r.example', auth: { username: 'u', password: 'p', serveraddress: 'r.example' } },
    ]);
  });

  test('an entry that a helper keeps is left out', () => {
    expect(parseDockerConfig('{"auths":{"r.example":{}},"credsStore":"x"}')).toEqual([]);
    expect(parseDockerConfig('{"credHelpers":{}}')).toEqual([]);
  });

  test.each(['nonsense s3cret', '{"auths":{"r":{"auth":"s3cret!"}}}', '[]', '{"auths":{"r":"s3cret"}}'])(
    'errors never say what was there: %s',
    (text) => {
      let message = '';
      try {
        parseDockerConfig(text);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).not.toBe('');
      expect(message).not.toContain('s3cret');
    },
  );

  test('every pair comes back', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), fc.boolean(), (user, password, padded) => {
        fc.pre(!user.includes(':') && !`${user}${password}`.includes('\0'));
        const text = Buffer.from(`${user}:${password}`).toString('base64');
        expect(decodeAuth('k', padded ? text : text.replace(/=+$/, ''))).toEqual({
          username: Buffer.from(user).toString(),
          password: Buffer.from(password).toString(),
        });
      }),
    );
  });
});

describe('names of images', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  test.each([
    ['busybox', 'docker.io/library/busybox', 'busybox:latest'],
    ['busybox:1.36', 'docker.io/library/busybox', 'busybox:1.36'],
    ['team/app', 'docker.io/team/app', 'team/app:latest'],
    ['docker.io/busybox', 'docker.io/library/busybox', 'docker.io/busybox:latest'],
    ['index.docker.io/team/app:1', 'docker.io/team/app', 'index.docker.io/team/app:1'],
    ['localhost/app', 'localhost/app', 'localhost/app:latest'],
    ['127.0.0.1:5000/app', '127.0.0.1:5000/app', '127.0.0.1:5000/app:latest'],
    ['127.0.0.1:5000/a/b:2', '127.0.0.1:5000/a/b', '127.0.0.1:5000/a/b:2'],
    [`r.example/app@${digest}`, 'r.example/app', `r.example/app@${digest}`],
    [`r.example/app:1@${digest}`, 'r.example/app', `r.example/app:1@${digest}`],
    ['registry.k8s.io/pause:3.10', 'registry.k8s.io/pause', 'registry.k8s.io/pause:3.10'],
  ])('%s', (name, repository, full) => expect(parseImageName(name)).toEqual({ repository, full }));

  test.each(['', ' ', 'UPPER/x y', '/x', 'x/', 'a:b:c', 'x@sha256:1', '-'.repeat(3) + '\n'])(
    '%j is none',
    (name) => {
      expect(() => parseImageName(name)).toThrow(/is no name of an image/);
    },
  );
});
