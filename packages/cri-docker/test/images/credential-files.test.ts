import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCredentialStore } from '../../src/images/credential-files.js';

let base = '';
let now = 0;
const lines: string[] = [];
const write = (fields: object, message: string): void =>
  void lines.push(JSON.stringify({ ...fields, message }));
const log = { debug: write, info: write, warn: write, error: write };
const clock = { now: () => now, elapsed: () => now, sleep: () => Promise.resolve() };
const { signal } = new AbortController();

beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'pws-'));
  now = 0;
  lines.length = 0;
});
afterEach(() => fs.rmSync(base, { recursive: true }));

const places = () => {
  const at = (name: string): string => path.join(base, name);
  return { preferred: at('preferred'), cwd: at('cwd'), home: at('home'), top: at('top') };
};

function put(file: string, user: string): void {
  const entry = { 'r.example': { auth: Buffer.from(`${user}:p`).toString('base64') } };
  fs.mkdirSync(path.dirname(path.join(base, file)), { recursive: true });
  const content = file.endsWith('.dockercfg') ? entry : { auths: entry };
  fs.writeFileSync(path.join(base, file), JSON.stringify(content));
}

const userOf = async (store: ReturnType<typeof createCredentialStore>): Promise<string | undefined> =>
  (await store.keyring(signal)).lookup('r.example/app')[0]?.username;
const freshUser = (): Promise<string | undefined> => userOf(createCredentialStore(places(), { clock, log }));

test('the first file of the order counts', async () => {
  const order = [
    'preferred/config.json',
    'cwd/config.json',
    'home/.docker/config.json',
    'top/.docker/config.json',
    'preferred/.dockercfg',
    'cwd/.dockercfg',
    'home/.dockercfg',
    'top/.dockercfg',
  ];
  expect(await freshUser()).toBeUndefined();
  for (const file of order.reverse()) {
    put(file, file);
    expect(await freshUser()).toBe(file);
  }
});

test('a broken file is said without its content, and the next one counts', async () => {
  fs.mkdirSync(path.join(base, 'preferred'));
  fs.writeFileSync(path.join(base, 'preferred/config.json'), '{"auths": hush');
  put('home/.docker/config.json', 'next');
  expect(await freshUser()).toBe('next');
  expect(lines.join()).toContain('preferred/config.json');
  expect(lines.join()).not.toContain('hush');
});

test('what was read is believed for five minutes', async () => {
  put('preferred/config.json', 'old');
  const store = createCredentialStore(places(), { clock, log });
  expect(await userOf(store)).toBe('old');
  put('preferred/config.json', 'new');
  now = 299_999;
  expect(await userOf(store)).toBe('old');
  now = 300_000;
  expect(await userOf(store)).toBe('new');
});

test('providers are asked in the order of their names, and one that fails is left out', async () => {
  const provider = (name: string) => ({
    name,
    credentials: () => Promise.resolve([{ key: 'r.example', auth: { username: name, password: 'p' } }]),
  });
  const broken = { name: 'b', credentials: () => Promise.reject(new Error('no token')) };
  put('preferred/config.json', 'files');
  const store = createCredentialStore(places(), {
    clock,
    log,
    providers: [provider('z'), broken, provider('a')],
  });
  const found = (await store.keyring(signal)).lookup('r.example/app').map(({ username }) => username);
  expect(found).toEqual(['files', 'a', 'z']);
});

test('a caller that gives up does not leave the next ones without what a provider has', async () => {
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  const slow = {
    name: 'slow',
    credentials: async (given: AbortSignal) => {
      await asked;
      given.throwIfAborted();
      return [{ key: 'r.example', auth: { username: 'slow', password: 'p' } }];
    },
  };
  const store = createCredentialStore(places(), { clock, log, providers: [slow] });
  const impatient = new AbortController();
  const first = store.keyring(impatient.signal);
  impatient.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  answer();
  expect(await userOf(store)).toBe('slow');
});
