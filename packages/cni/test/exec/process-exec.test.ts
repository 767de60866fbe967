import { execFileSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProcessExec, type PluginCall } from '../../src/index.js';

let directory: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cni-exec-'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const at = (name: string) => path.join(directory, name);
const textOf = (name: string) => fs.readFileSync(at(name), 'utf8');

/** Writes a shell script that runs in the test's directory. */
function plugin(script: string, name = 'plugin'): string {
  fs.writeFileSync(at(name), `#!/bin/sh\ncd ${directory}\n${script}\n`, { mode: 0o755 });
  return at(name);
}
const call = (file: string, more: Partial<PluginCall> = {}): PluginCall => ({
  file,
  env: { PATH: '/usr/bin:/bin' },
  stdin: '',
  ...more,
});
const exec = createProcessExec({ killGraceMs: 5000 });

/** A pipe with a name: reading it waits until the script has written, which is an event and no sleep. */
function createSignpost(name: string): Promise<string> {
  execFileSync('mkfifo', [at(name)]);
  return fs.promises.readFile(at(name), 'utf8');
}

/** States of the processes of a group; zombies wait for an init process to reap them and are dead. */
function livingMembers(group: number): string[] {
  const lines = execFileSync('ps', ['-e', '-o', 'pgid=,stat=,args=']).toString().split('\n');
  return lines.map((line) => line.trim()).filter((line) => new RegExp(`^${group}\\s+[^Z]`).test(line));
}

describe('the process protocol', () => {
  test('environment as given and nothing else, input byte by byte, both outputs', async () => {
    const file = plugin('tr "\\0" "\\n" </proc/$$/environ >env\ncat >input\necho out\necho err >&2');
    const stdin = Buffer.from([0, 1, 2, 0xff, 10, 0x7b]);
    const env = { PATH: '/usr/bin:/bin', CNI_COMMAND: 'ADD', EMPTY: '', EQUALS: 'a=b c' };
    expect(await exec.run(call(file, { env, stdin }))).toEqual({
      code: 0,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(fs.readFileSync(at('input'))).toEqual(stdin);
    const pairs = textOf('env').trimEnd().split('\n').toSorted();
    expect(pairs).toEqual(['CNI_COMMAND=ADD', 'EMPTY=', 'EQUALS=a=b c', 'PATH=/usr/bin:/bin']);
  });

  test.each([
    ['exit 7', { code: 7, signal: null }],
    ['kill -9 $$', { code: null, signal: 'SIGKILL' }],
    ['kill -SEGV $$', { code: null, signal: 'SIGSEGV' }],
  ])('%s', async (script, expected) => {
    expect(await exec.run(call(plugin(script)))).toMatchObject(expected);
  });

  test('a plugin that does not read its input is fine', async () => {
    expect(await exec.run(call(plugin('exit 0'), { stdin: 'x'.repeat(1 << 20) }))).toMatchObject({ code: 0 });
  });

  test('a character cut in two by the pipe is put together again', async () => {
    const file = plugin("printf '\\303'; sleep 0.05; printf '\\244'");
    expect(await exec.run(call(file))).toMatchObject({ stdout: 'ä' });
  });

  test('of much standard error the end is kept', async () => {
    const { stderr } = await exec.run(call(plugin('seq 1 50000 >&2')));
    expect(stderr.length).toBeLessThanOrEqual(64 * 1024);
    expect(stderr.endsWith('\n49999\n50000\n')).toBe(true);
  });

  test('a plugin that floods is ended', async () => {
    await expect(exec.run(call(plugin('exec yes')))).rejects.toMatchObject({
      code: 5,
      message: expect.stringContaining('printed more than 1048576 bytes') as string,
    });
  });

  test('what a plugin leaves running does not keep the answer', async () => {
    const { stdout } = await exec.run(call(plugin('sleep 600 & echo $! >pid; echo done')));
    expect(stdout).toBe('done\n');
    const left = Number(textOf('pid'));
    // Fails when it is not there any more.
    process.kill(left, 'SIGKILL');
  });
});

describe('what cannot be started is an error of code 5', () => {
  test('no such file', async () => {
    await expect(exec.run(call(at('none')))).rejects.toMatchObject({
      code: 5,
      message: expect.stringContaining('ENOENT') as string,
    });
  });
  test('not executable', async () => {
    fs.writeFileSync(at('text'), '');
    await expect(exec.run(call(at('text')))).rejects.toMatchObject({
      code: 5,
      message: expect.stringContaining('EACCES') as string,
    });
  });
  test('no descriptors left: Node then makes a child without streams, whose error comes later', async () => {
    const child = new EventEmitter();
    const around = <T>(): T => {
      process.nextTick(() => child.emit('error', new Error('spawn /plugin EMFILE')));
      return child as T;
    };
    await expect(createProcessExec({ around }).run(call('/plugin'))).rejects.toMatchObject({
      code: 5,
      message: 'cannot start /plugin: spawn /plugin EMFILE',
    });
  });
  test('an environment that no process can have', async () => {
    await expect(exec.run(call(plugin('exit 0'), { env: { A: 'a\0b' } }))).rejects.toMatchObject({ code: 5 });
  });
});

describe('an executable that is being written', () => {
  test('is tried again', async () => {
    const file = plugin('echo ok');
    const writer = fs.openSync(file, 'r+');
    const patient = createProcessExec({ busyDelayMs: 5, busyAttempts: 1000 });
    setTimeout(() => fs.closeSync(writer), 30);
    expect(await patient.run(call(file))).toMatchObject({ code: 0, stdout: 'ok\n' });
  });
  test('is given up after the attempts, and that is no success', async () => {
    const file = plugin('echo ok');
    const writer = fs.openSync(file, 'r+');
    const hasty = createProcessExec({ busyDelayMs: 1, busyAttempts: 3 });
    await expect(hasty.run(call(file))).rejects.toMatchObject({
      code: 5,
      message: expect.stringContaining('ETXTBSY') as string,
    });
    fs.closeSync(writer);
  });
  test('is not waited for when the caller gives up', async () => {
    const file = plugin('echo ok');
    const writer = fs.openSync(file, 'r+');
    const quit = new AbortController();
    const waiting = exec.run(call(file, { signal: quit.signal }));
    const reason = new Error('the deadline has passed');
    setImmediate(() => quit.abort(reason));
    await expect(waiting).rejects.toBe(reason);
    fs.closeSync(writer);
  });
});

describe('ending a plugin', () => {
  test('ends all it started: nothing is left and the lock is free', async () => {
    const ready = createSignpost('ready');
    const file = plugin(
      'echo $$ >group\n(flock -x 9; echo locked >ready; exec sleep 600) 9>lock &\n(exec sleep 600) &\nwait',
    );
    const quit = new AbortController();
    const running = exec.run(call(file, { signal: quit.signal }));
    expect(await ready).toBe('locked\n');
    expect(() => execFileSync('flock', ['-n', at('lock'), 'true'])).toThrow();
    quit.abort();
    expect(await running).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(livingMembers(Number(textOf('group')))).toEqual([]);
    execFileSync('flock', ['-n', at('lock'), 'true']);
  });

  test('what ignores SIGTERM gets SIGKILL', async () => {
    const ready = createSignpost('ready');
    const file = plugin(
      'trap "" TERM\necho $$ >group\n(sleep 600) &\necho x >ready\nwhile :; do sleep 600; done',
    );
    const quit = new AbortController();
    const rough = createProcessExec({ killGraceMs: 30 });
    const running = rough.run(call(file, { signal: quit.signal }));
    await ready;
    quit.abort();
    expect(await running).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(livingMembers(Number(textOf('group')))).toEqual([]);
  });

  test('a plugin may finish what it has begun before it is told', async () => {
    const ready = createSignpost('ready');
    const file = plugin('echo x >ready\nsleep 0.1\necho whose >address\necho done');
    const quit = new AbortController();
    const running = createProcessExec({ finishMs: 10_000 }).run(call(file, { signal: quit.signal }));
    await ready;
    quit.abort();
    expect(await running).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(textOf('address')).toBe('whose\n');
  });

  test('a plugin may clean up and answer after SIGTERM', async () => {
    const ready = createSignpost('ready');
    const file = plugin('trap "echo bye; exit 3" TERM\necho x >ready\nwhile :; do sleep 0.01; done');
    const quit = new AbortController();
    const running = exec.run(call(file, { signal: quit.signal }));
    await ready;
    quit.abort();
    expect(await running).toMatchObject({ code: 3, stdout: 'bye\n' });
  });

  test('a signal that is aborted already starts nothing', async () => {
    await expect(exec.run(call(plugin('echo x >ran'), { signal: AbortSignal.abort() }))).rejects.toThrow();
    expect(fs.existsSync(at('ran'))).toBe(false);
  });

  test('a process that even SIGKILL does not end blocks no caller', async () => {
    // Stands for one that is stuck in the kernel: its end is never heard of.
    const stuck = Object.assign(new EventEmitter(), {
      pid: 0x7fff_fff0,
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
    });
    const around = <T>(): T => stuck as T;
    const running = createProcessExec({ around }).run(call('/stuck', { signal: AbortSignal.timeout(5) }));
    expect(await running).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  test('nothing stays on a signal that lives on', async () => {
    const quit = new AbortController();
    const count = { added: 0, removed: 0 };
    const signal = new Proxy(quit.signal, {
      get: (target, key) => {
        if (key === 'addEventListener') count.added++;
        if (key === 'removeEventListener') count.removed++;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    await exec.run(call(plugin('exit 0'), { signal }));
    expect(count.added).toBeGreaterThan(0);
    expect(count.removed).toBe(count.added);
  });

  test('a delegated plugin stays in the group of the one that delegates', async () => {
    const inside = createProcessExec({ ownGroup: false });
    const script = 'cut -d" " -f5 /proc/$$/stat';
    const own = execFileSync('cut', ['-d ', '-f5', `/proc/${process.pid}/stat`]).toString();
    expect((await inside.run(call(plugin(script)))).stdout).toBe(own);
    expect((await exec.run(call(plugin(script)))).stdout).not.toBe(own);
  });
});

describe('looking a plugin up', () => {
  test('the first regular file wins; links are followed; folders are not plugins', () => {
    for (const name of ['a', 'b', 'c', 'c/x', 'd']) fs.mkdirSync(at(name));
    fs.writeFileSync(at('b/x'), 'x');
    fs.writeFileSync(at('a/other'), 'x');
    fs.symlinkSync(at('b/x'), at('d/x'));
    const paths = (...names: string[]) => names.map(at);
    expect(exec.find('x', paths('none', 'a', 'c', 'd', 'b'))).toBe(at('d/x'));
    expect(() => exec.find('x', paths('a', 'c', 'b/x'))).toThrow(expect.objectContaining({ code: 5 }));
    expect(() => exec.find('../b/x', paths('a'))).toThrow(expect.objectContaining({ code: 7 }));
    fs.writeFileSync(at('a/empty'), '');
    expect(() => exec.find('empty', paths('a'))).toThrow('a/empty is empty');
    expect(() => exec.find('x', [])).toThrow(
      expect.objectContaining({ details: 'the plugin path is empty' }),
    );
  });
});
