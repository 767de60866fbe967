/** `podwire cp` from a container that is not to be trusted. */
import fs from 'node:fs';
import path from 'node:path';
import { createStreamingServer, type StreamingServer } from '@podwire/cri-streaming';
import { Header } from 'tar';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readPlace } from '../../src/commands/cp.js';
import { type FakeAgent, type Run, run, startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { podView } from './views.js';

interface Entry {
  readonly path: string;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'CharacterDevice';
  readonly linkpath?: string;
  readonly text?: string;
  readonly mode?: number;
}

function archive(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ text = '', type = 'File', mode = 0o644, ...rest }) => {
    const body = Buffer.alloc(Math.ceil(text.length / 512) * 512);
    body.write(text);
    const head = Buffer.alloc(512);
    new Header({ size: text.length, type, mode, mtime: new Date(0), ...rest }).encode(head, 0);
    return [head, body];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

let agent: FakeAgent | undefined;
let server: StreamingServer | undefined;
let root: string;
let target: string;
beforeEach(() => {
  root = makeTemporaryDirectory();
  target = path.join(root, 'below/target');
  fs.mkdirSync(path.dirname(target));
});
afterEach(async () => {
  await agent?.close();
  await server?.close();
});

/** @param output what the tar in the container writes */
async function copy(output: Buffer, exitCode = 0): Promise<Run> {
  server = await createStreamingServer({
    exec: (_id, _argv, { stdout }) =>
      new Promise((resolve) => void stdout!.write(output, () => resolve(exitCode))),
    attach: () => Promise.resolve(),
    portForward: () => Promise.resolve(),
  });
  const request = { containerId: 'c', cmd: ['tar'], tty: false, stdin: false, stdout: true, stderr: true };
  agent = await startFakeAgent({
    'GET /v1/pods': { body: { pods: [podView('web')], problems: [] } },
    'POST /v1/exec': { body: { url: server.urlForExec(request) } },
  });
  fs.symlinkSync(agent.socket, path.join(root, 'podlet.sock'));
  return run(['cp', 'web:/srv/site', target, '--directory', root]);
}

const good = { path: 'site/good', text: 'good' };

test.each<[string, readonly Entry[]]>([
  ['a path that goes upwards', [{ path: 'site/../../../evil', text: 'x' }]],
  ['a path that begins upwards', [{ path: '../evil', text: 'x' }]],
  ['an absolute path', [{ path: '/evil', text: 'x' }]],
  [
    'a file behind a link',
    [
      { path: 'site/out', type: 'SymbolicLink', linkpath: '../../..' },
      { path: 'site/out/evil', text: 'x' },
    ],
  ],
  ['a hard link', [{ path: 'site/evil', type: 'Link', linkpath: '/etc/passwd' }]],
  ['a device', [{ path: 'site/evil', type: 'CharacterDevice' }]],
])('%s leads nowhere, and is told', async (_title, entries) => {
  const { code, stderr } = await copy(archive([good, ...entries]));
  expect(code).toBe(0);
  expect(stderr).toContain('warning: ');
  expect(fs.readFileSync(path.join(target, 'good'), 'utf8')).toBe('good');
  const all = fs.readdirSync(root, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of all.filter((each) => each.name === 'evil'))
    expect(`${parentPath}/${name}`.startsWith(`${target}/`)).toBe(true);
  expect(all.filter((each) => each.isSymbolicLink()).map(({ name }) => name)).toEqual(['podlet.sock']);
  expect(fs.readdirSync(path.dirname(target))).toEqual(['target']);
});

test('no file runs as its owner', async () => {
  await copy(archive([{ path: 'site/tool', text: 'x', mode: 0o6755 }]));
  expect(fs.statSync(path.join(target, 'tool')).mode & 0o7000).toBe(0);
});

test('an entry that cannot be written fails the copy, and leaves nothing', async () => {
  const entries = [
    { path: 'site/a/b', text: 'x' },
    { path: 'site/a', text: 'a file in place of a directory' },
  ];
  const { code, stderr } = await copy(archive(entries));
  expect(code).toBe(1);
  expect(stderr).toContain('a file cannot be written: ENOTEMPTY');
  expect(fs.readdirSync(path.dirname(target))).toEqual([]);
});

describe('what is no whole archive is an error, and leaves nothing', () => {
  test.each([
    ['something else', Buffer.from('no archive at all'), 0, 'could not be unpacked'],
    ['nothing', Buffer.alloc(0), 0, 'could not be unpacked'],
    ['half a copy', archive([good]), 2, 'tar in pod shop/web: exit code 2'],
  ])('%s', async (_title, output, exitCode, words) => {
    const { code, stderr } = await copy(output, exitCode);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain('INTERNAL');
    expect(fs.readdirSync(path.dirname(target))).toEqual([]);
  });
});

test.each([
  ['web:/x', { pod: 'web', path: '/x' }],
  ['shop/web:x y', { pod: 'shop/web', path: 'x y' }],
  ['pod/web:/a:b', { pod: 'pod/web', path: '/a:b' }],
  ['./a:b', undefined],
  ['/a:b', undefined],
  ['plain', undefined],
])('%s is a place in %j', (text, place) => {
  expect(readPlace(text)).toEqual(place);
});

test.each([
  ['both here', './a', './b'],
  ['both in pods', 'web:/a', 'api:/b'],
])('%s is refused', async (_title, from, to) => {
  const { code, stderr } = await run(['cp', from, to]);
  expect(code).toBe(2);
  expect(stderr).toContain('one of the two must be POD:PATH');
});
