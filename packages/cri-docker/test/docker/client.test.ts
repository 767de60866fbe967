import { getEventListeners, once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { Docker } from '../../src/docker/client.js';
import {
  DockerError,
  DockerTimeoutError,
  DockerUnreachableError,
  isConflict,
  isNotFound,
} from '../../src/docker/error.js';
import { createFrameReader, type Frame, writeFrame } from '../../src/docker/multiplex.js';
import { type FakeEngine, type FakeOptions, json, startFakeEngine } from '../support/fake-engine.js';

let engine: FakeEngine | undefined;
afterEach(async () => {
  await engine?.close();
  engine = undefined;
});

async function open(options: FakeOptions = {}): Promise<Docker> {
  engine = await startFakeEngine(options);
  return new Docker(engine.socket);
}

const calls = (): string[] => engine!.seen.map(({ call }) => call);
const info = { 'GET /info': json(200, { CgroupDriver: 'cgroupfs' }) };

describe('the version of the API', () => {
  test.each([
    ['20.10', { Version: '20.10', ApiVersion: '1.41', MinAPIVersion: '1.12' }, '1.41'],
    ['19.03', { Version: '19.03', ApiVersion: '1.40', MinAPIVersion: '1.12' }, '1.40'],
    ['28', { Version: '28', ApiVersion: '1.51', MinAPIVersion: '1.24' }, '1.41'],
    ['one that has given up 1.41', { Version: '99', ApiVersion: '1.60', MinAPIVersion: '1.44' }, '1.44'],
  ])('with Docker %s', async (_name, version, chosen) => {
    const docker = await open({ version, answers: info });
    await docker.info();
    expect(calls()).toEqual(['GET /version', `GET /v${chosen}/info`]);
  });

  test('Docker 18.09 is too old, and is told so', async () => {
    const docker = await open({ version: { Version: '18.09', ApiVersion: '1.39', MinAPIVersion: '1.12' } });
    await expect(docker.info()).rejects.toThrow(/18\.09 speaks API 1\.39; 1\.40/);
  });

  test('is asked for again where the engine did not tell it', async () => {
    let isUp = false;
    const version = { Version: '20.10', ApiVersion: '1.41' };
    const docker = await open({
      answers: {
        ...info,
        'GET /version': (response, request) =>
          (isUp ? json(200, version) : json(503, { message: 'not yet' }))(response, request),
      },
    });
    await expect(docker.info()).rejects.toThrow('not yet');
    isUp = true;
    expect(await docker.info()).toMatchObject({ CgroupDriver: 'cgroupfs' });
  });

  test('is waited for no longer than the call that needs it may take', async () => {
    const docker = await open({ answers: { 'GET /version': () => undefined } });
    await expect(docker.info({ timeoutMs: 20 })).rejects.toBeInstanceOf(DockerTimeoutError);
    const reason = new Error('enough');
    const abort = new AbortController();
    const call = docker.info({ signal: abort.signal });
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test('is asked for once, and again after the engine was away', async () => {
    const docker = await open({ answers: info });
    await docker.info();
    await docker.info();
    expect(calls().filter((call) => call === 'GET /version')).toHaveLength(1);
    await engine!.close();
    await expect(docker.info()).rejects.toBeInstanceOf(DockerUnreachableError);
    engine = undefined;
  });
});

describe('errors', () => {
  test('are the engine’s own words with its status', async () => {
    const docker = await open({
      answers: {
        'GET /containers/x/json': json(404, { message: 'No such container: x' }),
        'POST /containers/create': json(409, { message: 'Conflict. The container name "/x" is in use' }),
        'DELETE /containers/x': json(500, 'no object'),
      },
    });
    await expect(docker.inspectContainer('x')).rejects.toSatisfy(isNotFound);
    await expect(docker.inspectContainer('x')).rejects.toThrow('No such container: x');
    await expect(
      docker.createContainer('x', {
        Image: 'i',
        Labels: {},
        HostConfig: { NetworkMode: 'none', IpcMode: '' },
      }),
    ).rejects.toSatisfy(isConflict);
    await expect(docker.removeContainer('x', { force: true })).rejects.toMatchObject({ status: 500 });
  });

  test('stopping what has stopped is none', async () => {
    const docker = await open({ answers: { 'POST /containers/x/stop': json(304, undefined) } });
    await docker.stopContainer('x', 10);
    expect(calls().at(-1)).toBe('POST /v1.41/containers/x/stop?t=10');
  });

  test('an answer that does not come in time, and one that is cut off', async () => {
    const docker = await open({
      answers: {
        'GET /info': () => undefined,
        'GET /system/df': (response) => {
          response.writeHead(200, { 'content-length': '100' });
          response.write('{"La', () => response.destroy());
        },
      },
    });
    await expect(docker.info({ timeoutMs: 20 })).rejects.toBeInstanceOf(DockerTimeoutError);
    await expect(docker.diskUsage()).rejects.toThrow(/cut off/);
  });

  test('a time of more than 24 days is not over at once', async () => {
    const docker = await open({
      answers: { 'GET /info': (response) => void setTimeout(() => response.end('{}'), 50) },
    });
    expect(await docker.info({ timeoutMs: 30 * 24 * 3_600_000 })).toEqual({});
  });

  test('a signal ends the call with its reason, also while the answer comes', async () => {
    const docker = await open({
      answers: {
        'GET /info': (response) => {
          response.writeHead(200);
          response.write('{');
        },
      },
    });
    const reason = new Error('enough');
    const abort = new AbortController();
    const call = docker.info({ signal: abort.signal });
    while (calls().length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    abort.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  test('an answer that is no JSON', async () => {
    const docker = await open({ answers: { 'GET /info': (response) => void response.end('<html>') } });
    await expect(docker.info()).rejects.toThrow(/no JSON: <html>/);
  });

  test('nothing listens on the socket', async () => {
    const docker = new Docker('/nowhere/docker.sock');
    await expect(docker.version()).rejects.toBeInstanceOf(DockerError);
    await expect(docker.version()).rejects.toThrow('/nowhere/docker.sock');
  });
});

test('credentials go as padded base64 for URLs, and progress comes as it is sent', async () => {
  const docker = await open({
    answers: {
      'POST /images/create': (response) => {
        response.writeHead(200);
        response.write('{"status":"a"}\r\n{"status":');
        response.end('"}{"}{"error":"no"}');
      },
    },
  });
  const auth = { username: 'u?>', password: 'päß' };
  const messages = [];
  for await (const message of await docker.pullImage('r/i:1', auth)) messages.push(message);
  expect(messages).toEqual([{ status: 'a' }, { status: '}{' }, { error: 'no' }]);
  const header = engine!.seen.at(-1)!.headers['x-registry-auth'] as string;
  expect(header.length % 4).toBe(0);
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual(auth);
});

test('a hijacked connection goes both ways, and half-closes', async () => {
  const docker = await open({
    upgrade: (socket) => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('end', () => {
        socket.write(writeFrame('stdout', Buffer.concat(chunks)));
        socket.end(writeFrame('stderr', Buffer.from('done')));
      });
    },
  });
  const stream = await docker.startExec('e1', false);
  stream.end('hello');
  const read = createFrameReader();
  const frames: Frame[] = [];
  for await (const chunk of stream) frames.push(...read(chunk as Buffer));
  expect(frames.map(({ stream: name, payload }) => [name, payload.toString()])).toEqual([
    ['stdout', 'hello'],
    ['stderr', 'done'],
  ]);
});

test('a hijacked connection that is over leaves nothing on the signal of its call', async () => {
  const docker = await open({ upgrade: (socket) => void socket.end() });
  const { signal } = new AbortController();
  const stream = await docker.startExec('e1', false, { signal });
  stream.resume();
  await once(stream, 'close');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
