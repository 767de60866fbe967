/** Behaviour of every form of the plugin under a fault of the agent or the caller, or under many calls. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { answer, type FakeAgent, startFakeAgent } from './fake-agent.js';
import { buildPrograms, makeFolder, outcomeOf, runProgram, startProgram } from './programs.js';

const folder = makeFolder();
const programs = await buildPrograms(folder);
after(() => fs.rmSync(folder, { recursive: true }));

const ADD = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c1' };
let sockets = 0;
const newSocket = (): string => path.join(folder, `${++sockets}.sock`);
const configOf = (socket: string): string => JSON.stringify({ cniVersion: '1.0.0', socket });

/** Stopped after each test, also after one that failed: a server that listens keeps the whole file from ending. */
const agents: FakeAgent[] = [];
const start: typeof startFakeAgent = async (...parameters) => {
  const agent = await startFakeAgent(...parameters);
  agents.push(agent);
  return agent;
};
afterEach(() => Promise.all(agents.splice(0).map((agent) => agent.stop())));

const codeOf = (stdout: Buffer): number => (JSON.parse(stdout.toString()) as { code: number }).code;

for (const program of programs)
  describe(program.name, () => {
    it('waits for an agent that is just restarting: no socket yet, then one without a listener', async () => {
      const socket = newSocket();
      const early = runProgram(program, ADD, configOf(socket));
      await new Promise((resolve) => setTimeout(resolve, 100));
      const first = await start(socket, answer('0', 'first'));
      assert.equal((await early).stdout.toString(), 'first');
      await first.stop();
      leaveDeadSocket(socket);
      const late = runProgram(program, ADD, configOf(socket));
      await new Promise((resolve) => setTimeout(resolve, 100));
      await start(socket, answer('0', 'second'));
      assert.equal((await late).stdout.toString(), 'second');
    });

    it('gives up after a while where no agent comes', async () => {
      const absent = newSocket();
      const dead = newSocket();
      leaveDeadSocket(dead);
      for (const [socket, error] of [
        [absent, 'ENOENT'],
        [dead, 'ECONNREFUSED'],
      ] as const) {
        const { code, stdout } = await runProgram(program, ADD, configOf(socket));
        assert.equal(code, 1);
        assert.deepEqual(JSON.parse(stdout.toString()), {
          cniVersion: '1.0.0',
          code: 11,
          msg: 'the Podwire agent cannot be reached',
          details: `${socket}: ${error}`,
        });
      }
    });

    it('says so when the connection is closed before an answer, and carries the call only once', async () => {
      const socket = newSocket();
      const agent = await start(socket, (connection) => connection.end());
      const { code, stdout } = await runProgram(program, ADD, configOf(socket));
      assert.equal(code, 1);
      assert.equal(codeOf(stdout), 11);
      assert.match(stdout.toString(), /closed the connection without an answer/);
      assert.equal(agent.calls.length, 1);
    });

    it('says so when the connection is closed before the request was read', async () => {
      const socket = newSocket();
      await start(socket, answer('0'), {
        onConnection: (connection) => connection.destroy(),
      });
      const { code, stdout } = await runProgram(program, ADD, configOf(socket));
      assert.equal(code, 1);
      assert.equal(codeOf(stdout), 11);
    });

    it('prints the answer of an agent that does not read the whole request', async () => {
      const socket = newSocket();
      const body = '{"code":6}';
      await start(socket, answer('1'), {
        onConnection: (connection) =>
          connection.once('data', () => {
            connection.pause();
            connection.write(`1${body}`, () => connection.destroy());
          }),
      });
      const input = configOf(socket) + ' '.repeat(1024 * 1024);
      const { code, stdout } = await runProgram(program, ADD, input);
      assert.equal(code, 1);
      assert.equal(stdout.toString(), body);
    });

    it('fails when the connection breaks within the answer', async () => {
      const socket = newSocket();
      // Closing with unread bytes is a reset, and what the kernel of a killed agent does.
      await start(socket, answer('1'), {
        onConnection: (connection) =>
          connection.once('data', () => {
            connection.pause();
            connection.write('0{"ips":[', () => connection.destroy());
          }),
      });
      const input = configOf(socket) + ' '.repeat(1024 * 1024);
      const { code, stdout, stderr } = await runProgram(program, ADD, input);
      assert.equal(stdout.toString(), '{"ips":[');
      assert.equal(code, 1);
      assert.match(stderr, /broke within the answer/);
    });

    it('refuses an answer that is not the protocol', async () => {
      const socket = newSocket();
      await start(socket, (connection) => connection.end('HTTP/1.1 400 Bad Request'));
      const { code, stdout } = await runProgram(program, ADD, configOf(socket));
      assert.equal(code, 1);
      assert.match(stdout.toString(), /is not that of a Podwire agent/);
      assert.equal(codeOf(stdout), 11);
    });

    it('can be killed while the agent does not answer', async () => {
      const socket = newSocket();
      const agent = await start(socket, () => undefined);
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        const child = startProgram(program, ADD);
        const outcome = outcomeOf(child);
        const connected = once(agent.server, 'connection') as Promise<[net.Socket]>;
        child.stdin?.end(configOf(socket));
        const [connection] = await connected;
        await once(connection, 'end');
        child.kill(signal);
        assert.deepEqual(await outcome, { code: null, signal, stdout: Buffer.alloc(0), stderr: '' });
      }
    });

    it('goes on after it was stopped and continued', async () => {
      const socket = newSocket();
      const agent = await start(socket, () => undefined);
      const child = startProgram(program, ADD);
      const outcome = outcomeOf(child);
      const connected = once(agent.server, 'connection') as Promise<[net.Socket]>;
      child.stdin?.end(configOf(socket));
      const [connection] = await connected;
      await once(connection, 'end');
      child.kill('SIGSTOP');
      child.kill('SIGCONT');
      connection.end('0late');
      assert.deepEqual(await outcome, {
        code: 0,
        signal: null,
        stdout: Buffer.from('late'),
        stderr: '',
      });
    });

    it('fails, but not by a signal, when its output has no reader', async () => {
      const socket = newSocket();
      await start(socket, answer('0', Buffer.alloc(1024 * 1024)));
      const child = startProgram(program, ADD);
      child.stdout?.destroy();
      const outcome = outcomeOf(child);
      child.stdin?.end(configOf(socket));
      const { code, signal, stderr } = await outcome;
      assert.deepEqual({ code, signal }, { code: 1, signal: null });
      assert.match(stderr, /standard output: cannot be written/);
    });

    it('reads input that comes in pieces from a descriptor that does not block', async () => {
      const socket = newSocket();
      await start(socket, (connection, call) => connection.end(`0${call.input.length}`));
      const fifo = path.join(folder, `fifo-${sockets}`);
      execFileSync('mkfifo', [fifo]);
      const reader = fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
      const writer = fs.openSync(fifo, fs.constants.O_WRONLY);
      const child = startProgram(program, ADD, [reader, 'pipe', 'pipe']);
      const outcome = outcomeOf(child);
      fs.closeSync(reader);
      const config = configOf(socket);
      fs.writeSync(writer, config.slice(0, 10));
      await new Promise((resolve) => setTimeout(resolve, 50));
      fs.writeSync(writer, config.slice(10));
      fs.closeSync(writer);
      assert.equal((await outcome).stdout.toString(), String(config.length));
    });

    it('loses no call of many at once, also with a listen queue that is too short', async () => {
      const socket = newSocket();
      const agent = await start(socket, (connection, call) => connection.end(`0${call.pairs.at(-1)}`), {
        backlog: 1,
      });
      const ids = Array.from({ length: program.parallel }, (_, index) => `pod-${index}`);
      const outcomes = await Promise.all(
        ids.map((id) => runProgram(program, { ...ADD, CNI_CONTAINERID: id }, configOf(socket))),
      );
      assert.deepEqual(
        outcomes.map(({ code, stdout }) => [code, stdout.toString()]),
        ids.map((id) => [0, `CNI_CONTAINERID=${id}`]),
      );
      assert.equal(agent.calls.length, ids.length);
    });
  });

/** A socket file whose server is gone, as a killed agent leaves it. */
function leaveDeadSocket(file: string): void {
  const code = `require('net').createServer().listen(${JSON.stringify(file)}, () => process.kill(process.pid, 9))`;
  try {
    execFileSync(process.execPath, ['-e', code], { stdio: 'ignore' });
  } catch {
    assert.ok(fs.existsSync(file));
  }
}
