import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  createCredentials,
  createPullSecretFiles,
  matchCredentials,
  parseDockerConfig,
} from '../../src/images/credentials.js';
import { temporaryDirectories } from '../files/temporary.js';
import { makePod } from '../runtime-config/make-pod.js';

const temporary = temporaryDirectories();
const encode = (user: string, password: string) => Buffer.from(`${user}:${password}`).toString('base64');
const config = (auths: Record<string, unknown>) => JSON.stringify({ auths });
const users = (auths: Record<string, unknown>, image: string) =>
  matchCredentials(parseDockerConfig(config(auths)), image).map(({ username }) => username);

describe('reading', () => {
  test.each([
    [{ auth: encode('u', 'p') }, 'u', 'p'],
    [{ auth: encode('u', 'p:q:') }, 'u', 'p:q:'],
    [{ auth: encode('u', 'pp').replace(/=+$/, '') }, 'u', 'pp'],
    [{ username: 'u', password: 'p' }, 'u', 'p'],
    [{ auth: encode('u', 'p'), username: 'other', password: 'x' }, 'u', 'p'],
  ])('%j', (entry, username, password) => {
    const [found] = parseDockerConfig(config({ 'r.example': entry }));
    expect(found?.auth).toMatchObject({ username, password, serverAddress: 'r.example' });
  });

  test('the old form, without auths', () => {
    expect(parseDockerConfig(JSON.stringify({ 'r.example': { auth: encode('u', 'p') } }))).toHaveLength(1);
  });

  test('tokens', () => {
    const [found] = parseDockerConfig(config({ 'r.example': { identitytoken: 'i', registrytoken: 'r' } }));
    expect(found?.auth).toMatchObject({ identityToken: 'i', registryToken: 'r' });
  });

  test('what a helper keeps, and what is no entry, is passed over', () => {
    expect(parseDockerConfig(config({ a: {}, b: null, c: 'x', d: { auth: 'no colon' } }))).toEqual([]);
  });

  test.each(['', 'secret-password', '[]', '"x"', '{"auths":7}'])(
    '%j is refused without being quoted',
    (text) => {
      expect(() => parseDockerConfig(text)).toThrow(/^it is no JSON object of registries$/);
    },
  );
});

describe('matching', () => {
  const entry = (username: string) => ({ username, password: 'p' });
  test.each([
    ['r.example', 'r.example/app', true],
    ['https://r.example/v2/', 'r.example/app', true],
    ['http://r.example', 'r.example/app', true],
    ['r.example:5000', 'r.example:5000/app', true],
    ['r.example', 'r.example:5000/app', false],
    ['*.example', 'r.example/app', true],
    ['r*.example', 'r17.example/app', true],
    ['*.example', 'a.b.example/app', false],
    ['*.*.example:5000', 'a.b.example:5000/app', true],
    ['r.example/team', 'r.example/team/app', true],
    ['r.example/team', 'r.example/teams/app', false],
    ['r.example/team/app', 'r.example/team/app:v1', true],
    ['rxexample', 'r.example/app', false],
    ['https://index.docker.io/v1/', 'busybox', true],
    ['docker.io', 'team/app', true],
    ['r.example', 'busybox', false],
    ['r.example', 'NO NAME', false],
  ])('%s for %s: %s', (key, image, matches) =>
    expect(users({ [key]: entry('u') }, image)).toEqual(matches ? ['u'] : []),
  );

  test('the longest path first', () => {
    const auths = {
      'r.example': entry('all'),
      'r.example/team/app': entry('app'),
      'r.example/team': entry('team'),
    };
    expect(users(auths, 'r.example/team/app')).toEqual(['app', 'team', 'all']);
  });
});

test('secrets of the pod come before the files of the node, and are read at each pull', async () => {
  const root = temporary();
  const write = (name: string, user: string) => {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), config({ 'r.example': { auth: encode(user, 'p') } }));
  };
  const find = createCredentials({
    files: [path.join(root, 'node.json'), path.join(root, 'missing.json')],
    findPullSecret: createPullSecretFiles(path.join(root, 'secrets')),
  });
  const pod = makePod({ imagePullSecrets: [{ name: 'team' }, { name: 'gone' }, { name: '../../node' }] });
  const found = async () => (await find('r.example/app', pod)).map(({ username }) => username);
  write('node.json', 'node');
  expect(await found()).toEqual(['node']);
  write('secrets/shop/team.json', 'team');
  expect(await found()).toEqual(['team', 'node']);
  fs.writeFileSync(path.join(root, 'node.json'), '{"auths": secret');
  await expect(found()).rejects.toThrow(/node\.json is no docker configuration$/);
});
