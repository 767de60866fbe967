/** `podwire logs`, with a pod agent that answers what it is told, and logs in files. */
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FakeAgent, run, startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { container, podView } from './views.js';

const now = Date.parse('2026-11-23T10:00:00Z');
let agent: FakeAgent;
let directory: string;
let written: string;

beforeEach(async () => {
  directory = makeTemporaryDirectory();
  const log = (name: string, ...entries: readonly [string, string][]): string => {
    const file = path.join(directory, name);
    fs.writeFileSync(file, entries.map(([at, text]) => `2026-11-23T${at}Z stdout ${text}\n`).join(''));
    return file;
  };
  const main = log('0.log', ['08:00:00', 'F early'], ['09:55:00.5', 'F late'], ['09:59:59', 'F last']);
  const side = log('side.log', ['09:58:00', 'P one '], ['09:58:00', 'F line']);
  const containers = [
    container('main', { logPath: main }),
    container('side', { logPath: side }),
    container('unbegun', { logPath: undefined as never }),
  ];
  agent = await startFakeAgent({
    'GET /v1/pods': { body: { pods: [podView('web', { containers })], problems: [] } },
  });
  fs.symlinkSync(agent.socket, path.join(directory, 'podlet.sock'));
  written = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((bytes) => {
    written += String(bytes);
    return true;
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await agent.close();
});

const logs = (...argv: string[]) => run(['logs', 'web', '--directory', directory, ...argv], { now });

test.each([
  [[], 'early\nlate\nlast\n'],
  [['--since', '10m'], 'late\nlast\n'],
  [['--since', '1m30s'], 'last\n'],
  [['--since', '3h'], 'early\nlate\nlast\n'],
  [['--since-time', '2026-11-23T09:55:00.5Z'], 'late\nlast\n'],
  [['--since', '2026-11-23T10:57:00+01:00'], 'last\n'],
  [['--since', '10m', '--tail', '1', '--timestamps'], '2026-11-23T09:59:59Z last\n'],
  [['-c', 'side', '--since', '5m'], 'one line\n'],
  [['--all-containers', '--since', '4m'], '[main] last\n[side] one line\n'],
])('logs %j', async (argv, text) => {
  expect(await logs(...argv)).toMatchObject({ code: 0, stderr: '' });
  expect(written).toBe(text);
});

test.each([
  [['--since', '10'], 'a duration such as 90s, 10m or 1h30m'],
  [['--since-time', 'yesterday'], 'a time such as 2026-11-23T09:00:00Z'],
  [['--since', '1m', '--since-time', '2026-11-23T09:00:00Z'], 'exclude each other'],
  [['--all-containers', '-c', 'side'], 'cannot be used with'],
])('%j is refused', async (argv, words) => {
  const { code, stderr } = await logs(...argv);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});
