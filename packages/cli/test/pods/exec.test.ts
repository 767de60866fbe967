/** `podwire exec`, with a pod agent that answers what it is told. */
import fs from 'node:fs';
import path from 'node:path';
import { createStreamingServer, type StreamingServer } from '@podwire/cri-streaming';
import { afterEach, expect, test } from 'vitest';
import { explainStartFailure } from '../../src/pods/exec-failure.js';
import { type FakeAgent, type Run, run, startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { podView } from './views.js';

let agent: FakeAgent | undefined;
let server: StreamingServer | undefined;
afterEach(async () => {
  await agent?.close();
  await server?.close();
});

/** @param outcome the exit code of the program, or why it does not start */
async function exec(argv: readonly string[], outcome: number | Error = 0): Promise<Run & { asked: unknown }> {
  server = await createStreamingServer({
    exec: () => (typeof outcome === 'number' ? Promise.resolve(outcome) : Promise.reject(outcome)),
    attach: () => Promise.resolve(),
    portForward: () => Promise.resolve(),
  });
  const stdin = argv.includes('-i');
  const request = { containerId: 'c', cmd: ['x'], tty: false, stdin, stdout: true, stderr: true };
  const directory = makeTemporaryDirectory();
  agent = await startFakeAgent({
    'GET /v1/pods': { body: { pods: [podView('web'), podView('api')], problems: [] } },
    'POST /v1/exec': { body: { url: server.urlForExec(request) } },
  });
  fs.symlinkSync(agent.socket, path.join(directory, 'podlet.sock'));
  const result = await run(['exec', '--directory', directory, ...argv]);
  const post = agent.asked.find((each) => each.startsWith('POST /v1/exec '));
  return {
    ...result,
    asked: post === undefined ? undefined : JSON.parse(post.slice('POST /v1/exec '.length)),
  };
}

const target = { namespace: 'shop', name: 'web' };

test.each([
  ['options behind the name', ['web', '-c', 'main', '-n', 'shop', '--', 'ls', '-l'], { container: 'main' }],
  ['options in front of it', ['-c', 'main', '-n', 'shop', 'web', '--', 'ls', '-l'], { container: 'main' }],
  ['options on both sides', ['-n', 'shop', 'web', '--container=main', 'ls', '-l'], { container: 'main' }],
  ['no --', ['web', 'ls', '-l'], {}],
  ['stdin', ['web', '-i', '--', 'ls', '-l'], { stdin: true }],
])('%s: all behind the options is the program', async (_title, argv, more) => {
  const { code, asked } = await exec(argv);
  expect(code).toBe(0);
  expect(asked).toEqual({ ...target, argv: ['ls', '-l'], tty: false, stdin: false, ...more });
});

test.each([
  [
    ['web', '--', 'sh', '-c', 'ls -n'],
    ['sh', '-c', 'ls -n'],
  ],
  [
    ['web', 'env', '-c', '--', 'x'],
    ['env', '-c', '--', 'x'],
  ],
  [['web', '--', '-c'], ['-c']],
])('options of the program are left alone: %j', async (argv, program) => {
  expect((await exec(argv)).asked).toMatchObject({ ...target, argv: program });
});

test.each([
  [['web', '-x', 'ls'], 'exec has no option -x'],
  [['web', '-c', 'main'], 'there is no program to run'],
])('%j is refused before anything is asked', async (argv, words) => {
  const { code, stderr } = await exec(argv);
  expect(code).not.toBe(0);
  expect(stderr).toContain(words);
  expect(agent?.asked).toEqual([]);
});

test('ends with the exit code of the program', async () => {
  expect(await exec(['web', '--', 'false'], 7)).toMatchObject({ code: 7, stderr: '' });
  expect(await exec(['web', '--', 'sleep'], 137)).toMatchObject({ code: 137 });
});

test('a program that does not exist: 127, in a sentence that names the pod', async () => {
  const why = 'error executing command: exec: "nosuch": executable file not found in $PATH: unknown';
  expect(await exec(['web', '--', 'nosuch'], new Error(why))).toMatchObject({
    code: 127,
    stderr: 'error: nosuch: executable file not found in container main of pod shop/web\n',
  });
});

test.each([
  ['OCI runtime exec failed: exec: "/nosuch": stat /nosuch: no such file or directory: unknown', 127],
  ['exec: "/etc/passwd": permission denied', 126],
  ['exec: "/etc": is a directory: unknown', 126],
  ['exec: "/data/photo": exec format error', 126],
])('%s: exit code %d', (message, exitCode) => {
  expect(explainStartFailure(new Error(message))).toMatchObject({ exitCode });
});

test('what is not about the program stays the error that it is', async () => {
  expect(explainStartFailure(new Error('chdir to cwd ("/x") failed: no such file'))).toBeUndefined();
  const { code, stderr } = await exec(['web', '--', 'ls'], new Error('the container has ended'));
  expect(code).toBe(1);
  expect(stderr).toContain('the container has ended');
});
