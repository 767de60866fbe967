import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { expect, test } from 'vitest';
import type { CniRequest, KubeOvnHandlers } from '../src/index.js';
import {
  addRequest,
  answer,
  answer4,
  answerDual,
  deleted,
  delRequest,
  errorBody,
  podBody,
} from './recorded.js';
import { ask, changed, connect, makeDirectory, response4, responseDual, startServer } from './support.js';

const bad = (text: string): string => answer('400 Bad Request', errorBody(text));
const failed = (text: string): string => answer('500 Internal Server Error', errorBody(text));

test('answers ADD and DEL byte for byte as the original', async () => {
  const seen: [string, CniRequest][] = [];
  const { socketPath } = await startServer({
    add: (request) => (seen.push(['add', request]), Promise.resolve(response4)),
    del: (request) => (seen.push(['del', request]), Promise.resolve()),
  });
  expect(await ask(socketPath, addRequest(podBody))).toBe(answer('200 OK', answer4));
  expect(await ask(socketPath, delRequest(changed({ net_ns: '' })))).toBe(deleted);
  expect(seen.map(([operation, { podName, netNs }]) => [operation, podName, netNs])).toEqual([
    ['add', 'pod', '/proc/10112/ns/net'],
    ['del', 'pod', ''],
  ]);
});

test('serves several requests on one connection, and several connections', async () => {
  const { socketPath } = await startServer({
    add: ({ podName }) => Promise.resolve(podName === 'dual' ? responseDual : response4),
  });
  const { ask: again } = await connect(socketPath);
  const four = Promise.all(
    ['a', 'b', 'c'].map((pod) => ask(socketPath, addRequest(changed({ pod_name: pod })))),
  );
  expect(await again(addRequest(changed({ pod_name: 'dual' })))).toBe(answer('200 OK', answerDual));
  expect(await again(delRequest(podBody))).toBe(deleted);
  expect(await again(addRequest('{'))).toMatch(/^HTTP\/1.1 400 /);
  expect(await again(addRequest(podBody))).toBe(answer('200 OK', answer4));
  expect(await four).toEqual(Array(3).fill(answer('200 OK', answer4)));
});

test('refuses what it cannot read, and names the field', async () => {
  const { socketPath, logged } = await startServer();
  const refused = 'parse add request failed pod_name is no string';
  expect(await ask(socketPath, addRequest(changed({ pod_name: 5 })))).toBe(bad(refused));
  expect(await ask(socketPath, delRequest('[]'))).toBe(
    bad('parse del request failed the request is no object'),
  );
  expect(await ask(socketPath, addRequest('{'))).toMatch(
    /"error": "parse add request failed the request is no JSON/,
  );
  expect(logged.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
});

test('answers what the caller did wrong with 400, and a failure with 500 and its code', async () => {
  const errors = [
    new PodwireError('REQUEST_INVALID', 'provider x<&>é not bind to any subnet'),
    new PodwireError('POOL_EXHAUSTED', 'no address allocated to pod ns/pod'),
    new Error('failed', { cause: new Error('the disk is full') }),
  ];
  const fail = (): Promise<never> => Promise.reject(errors.shift()!);
  const { socketPath } = await startServer({ add: fail, del: fail });
  const escaped = 'provider x\\u003c\\u0026\\u003eé not bind to any subnet';
  expect(await ask(socketPath, addRequest(podBody))).toBe(bad(escaped));
  const text = 'POOL_EXHAUSTED: no address allocated to pod ns/pod';
  expect(await ask(socketPath, addRequest(podBody))).toBe(failed(text));
  expect(await ask(socketPath, delRequest(podBody))).toBe(failed('failed: the disk is full'));
});

test('refuses other paths and methods', async () => {
  const { socketPath } = await startServer();
  expect(await ask(socketPath, addRequest(podBody).replace('/add', '/x'))).toMatch(
    /^HTTP\/1.1 404 [^]*\r\n\r\n404: Page Not Found$/,
  );
  expect(await ask(socketPath, addRequest(podBody).replace('POST', 'PUT'))).toMatch(
    /^HTTP\/1.1 405 [^]*\r\n\r\n405: Method Not Allowed$/,
  );
  expect(await ask(socketPath, delRequest(podBody).replace('/del', '/del?a=b'))).toBe(deleted);
});

test('reads a request that is too large to its end, and refuses it', async () => {
  const { socketPath } = await startServer();
  const large = addRequest(changed({ x: 'a'.repeat(1 << 20) }));
  expect(await ask(socketPath, large)).toBe(bad('parse add request failed it is larger than 1048576 bytes'));
});

/** A handler that waits until its signal aborts. */
function createPatient() {
  let begin: (signal: AbortSignal) => void = () => undefined;
  const begun = new Promise<AbortSignal>((resolve) => (begin = resolve));
  const add: KubeOvnHandlers['add'] = async (_request, signal) => {
    begin(signal);
    await once(signal, 'abort');
    throw signal.reason;
  };
  return { add, begun };
}

test('aborts when the client goes away', async () => {
  const { add, begun } = createPatient();
  const { socketPath, logged } = await startServer({ add });
  const { socket } = await connect(socketPath);
  socket.write(addRequest(podBody));
  const signal = await begun;
  socket.destroy();
  await expect.poll(() => signal.aborted).toBe(true);
  expect(signal.reason).toMatchObject({ code: 'CALLER_GONE' });
  await expect.poll(() => logged.length).toBe(2);
});

test('forgets a request that breaks off, and goes on', async () => {
  const { socketPath } = await startServer();
  const { socket } = await connect(socketPath);
  socket.end(addRequest(podBody).slice(0, -10));
  await once(socket.resume(), 'close');
  expect(await ask(socketPath, addRequest(podBody))).toBe(answer('200 OK', answer4));
});

test('aborts when the deadline is over, and answers all the same', async () => {
  const { add } = createPatient();
  const { socketPath } = await startServer({ add }, { deadline: 50 });
  const text = 'DEADLINE_EXCEEDED: the request took longer than 50 ms';
  expect(await ask(socketPath, addRequest(podBody))).toBe(failed(text));
});

test('serves others while a handler is slow, and lets it end when the server stops', async () => {
  let finish: () => void = () => undefined;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const add: KubeOvnHandlers['add'] = async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
      begin();
    });
    return response4;
  };
  const { server, socketPath } = await startServer({ add });
  const slow = ask(socketPath, addRequest(podBody));
  await begun;
  expect(await ask(socketPath, delRequest(podBody))).toBe(deleted);
  const stopped = server.stop(30_000);
  finish();
  expect(await slow).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\nConnection: close\r\n/);
  await stopped;
  expect(fs.existsSync(socketPath)).toBe(false);
});

test('logs each request without its routes and paths', async () => {
  const { socketPath, logged } = await startServer();
  await ask(socketPath, addRequest(podBody));
  await expect.poll(() => logged.length).toBe(1);
  expect(logged[0]!.fields).toEqual({ operation: 'add', containerId: '532bed4f476d', pod: 'ns/pod', ms: 0 });
});

test('refuses the connections of other users', async () => {
  const { socketPath, logged } = await startServer(
    {},
    { peerCredentials: () => ({ pid: 1, uid: (process.getuid?.() ?? 0) + 1, gid: 0 }) },
  );
  expect(await ask(socketPath, addRequest(podBody))).toBe('');
  expect(logged).toMatchObject([{ level: 'warn', message: 'refused a caller' }]);
});

test('has a socket for its user alone, and makes it again when it was deleted', async () => {
  const { socketPath, logged } = await startServer();
  expect(fs.statSync(socketPath).mode & 0o7777).toBe(0o600);
  fs.rmSync(socketPath);
  await expect.poll(() => fs.existsSync(socketPath)).toBe(true);
  await expect
    .poll(() => logged.map(({ message }) => message))
    .toContain('the socket was deleted, and is there again');
  expect(await ask(socketPath, delRequest(podBody))).toBe(deleted);
});

test('leaves a server that runs there alone, and does not listen where others can write', async () => {
  const { socketPath } = await startServer();
  await expect(startServer({}, { socketPath })).rejects.toMatchObject({ code: 'AGENT_RUNNING' });
  expect(await ask(socketPath, delRequest(podBody))).toBe(deleted);
  const directory = path.join(makeDirectory(), 'openvswitch');
  fs.mkdirSync(directory);
  fs.chmodSync(directory, 0o777);
  const unsafe = startServer({}, { socketPath: path.join(directory, 'x.sock') });
  await expect(unsafe).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});
