/** `podwire cp` with the `tar` of this machine in place of a container's: one copy in six once ended without a word. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createStreamingServer, type StreamingServer } from '@podwire/cri-streaming';
import type { LocalApi } from '@podwire/local-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Copy, copyFromContainer, copyToContainer } from '../../src/pods/copy.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { podView } from './views.js';

/** `npm run test:long` makes all of them. */
const times = process.env['PODWIRE_TEST_LONG'] === '1' ? 200 : 20;
const content = Buffer.alloc(3 << 20, 'podwire ');

let server: StreamingServer;
const root = makeTemporaryDirectory();

type Exec = Parameters<typeof createStreamingServer>[0]['exec'];

/** Runs the program here, joined to the streams of the request. */
const exec: Exec = async (_id, [program = '', ...argv], { stdin, stdout }) => {
  const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit') as Promise<[number]>;
  const given = stdin === undefined ? child.stdin.end() : pipeline(stdin, child.stdin).catch(() => undefined);
  await Promise.all([given, pipeline(child.stdout, stdout!, { end: false })]);
  const [exitCode] = await ended;
  return exitCode;
};

/** The pod agent's answer to a request for a program. */
const api = {
  post: (_path: string, { argv, stdin }: { argv: string[]; stdin: boolean }) => {
    const request = { containerId: 'c', cmd: argv, tty: false, stdin, stdout: true, stderr: true };
    return Promise.resolve({ url: server.urlForExec(request) });
  },
} as unknown as LocalApi;

const copyOf = (local: string, remote: string): Copy => ({
  place: { api, pod: podView('web'), container: undefined },
  ...{ local, remote, signal: new AbortController().signal },
  warn: (message) => expect.fail(message),
});

function makeFolder(folder: string): void {
  fs.mkdirSync(path.join(folder, 'sub'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'index.html'), 'hello');
  fs.writeFileSync(path.join(folder, 'sub/large'), content);
}

beforeAll(async () => {
  const refuse = (): Promise<void> => Promise.reject(new Error('only exec is used'));
  server = await createStreamingServer({ exec, attach: refuse, portForward: refuse });
  makeFolder(path.join(root, 'folder'));
  fs.writeFileSync(path.join(root, 'file'), content);
});
afterAll(() => server.close());

describe.each([
  ['out of', copyFromContainer, (from: string, to: string) => copyOf(to, from)],
  ['into', copyToContainer, (from: string, to: string) => copyOf(from, to)],
])('cp %s a container', { tags: ['long'] }, (_way, copy, between) => {
  test(`copies a file of 3 MB ${times} times, and ends each time`, async () => {
    for (let turn = 0; turn < times; turn++) {
      const target = path.join(root, 'copy');
      await copy(between(path.join(root, 'file'), target));
      expect(fs.readFileSync(target).equals(content)).toBe(true);
      fs.rmSync(target);
    }
    expect(fs.readdirSync(root).sort()).toEqual(['file', 'folder']);
  });

  test(`copies a folder ${times} times, and ends each time`, async () => {
    for (let turn = 0; turn < times; turn++) {
      const target = path.join(root, 'copies');
      await copy(between(path.join(root, 'folder'), target));
      expect(fs.readFileSync(path.join(target, 'index.html'), 'utf8')).toBe('hello');
      expect(fs.readFileSync(path.join(target, 'sub/large')).equals(content)).toBe(true);
      fs.rmSync(target, { recursive: true });
    }
    expect(fs.readdirSync(root).sort()).toEqual(['file', 'folder']);
  });
});
