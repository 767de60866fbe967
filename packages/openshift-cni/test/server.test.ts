import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { CniError, type Result } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { expect, onTestFinished, test } from 'vitest';
import { type Call, handleBy, type PodHandler, type PodRequest } from '../src/index.js';
import { addBody, bad, good, methodNotAllowed, refusals, result020, result031 } from './recorded.js';
import { exchange, httpRequest, listen, makeDirectory, startServer } from './started-server.js';
import { buildBody } from './support.js';

const result: Result = { ...(JSON.parse(result031) as Result), cniVersion: '1.1.0' };
const giveResult: PodHandler = (request, { answer }) =>
  answer(request.command === 'ADD' ? result : undefined);
const del = buildBody({ without: 'hostVeth', with: { CNI_COMMAND: 'DEL' } });

test('answers ADD and DEL byte for byte as the original', async () => {
  const { directory } = await startServer(giveResult);
  expect(await exchange(directory, httpRequest(addBody))).toBe(good(result020));
  const newer = buildBody({ config: '{"cniVersion":"0.3.1","name":"openshift-sdn"}' });
  expect(await exchange(directory, httpRequest(newer))).toBe(good(result031));
  expect(await exchange(directory, httpRequest(del))).toBe(good(''));
  expect(await exchange(directory, httpRequest(del, '/?a=b'))).toBe(good(''));
});

test('refuses malformed requests byte for byte as the original', async () => {
  const { directory, logged } = await startServer(giveResult);
  for (const { text, ...changes } of refusals)
    expect(await exchange(directory, httpRequest(buildBody(changes)))).toBe(
      bad('400 Bad Request', `${text}\n`),
    );
  expect(await exchange(directory, httpRequest('{'))).toMatch(
    /^HTTP\/1.1 400 .*\r\n\r\nJSON unmarshal error: /s,
  );
  expect(logged.every(({ level }) => level === 'warn')).toBe(true);
});

test('refuses other paths and methods byte for byte as the original', async () => {
  const { directory } = await startServer(giveResult);
  expect(await exchange(directory, httpRequest('', '/', 'GET'))).toBe(methodNotAllowed);
  expect(await exchange(directory, httpRequest(addBody, '/', 'PUT'))).toBe(methodNotAllowed);
  for (const method of ['GET', 'POST'])
    expect(await exchange(directory, httpRequest('{}', '/x', method))).toBe(
      bad('404 Not Found', '404 page not found\n'),
    );
});

test('answers what a handler throws as text, byte for byte as the original', async () => {
  const text = 'failed to run IPAM for abc: <no> & é "quoted"';
  const { directory } = await startServer(() => Promise.reject(new Error(text)));
  expect(await exchange(directory, httpRequest(addBody))).toBe(bad('400 Bad Request', `${text}\n`));
});

test('gives the code of a coded error', async () => {
  const errors = [
    new PodwireError('POOL_EXHAUSTED', 'no address is free'),
    new CniError(7, 'bad', { details: 'name' }),
  ];
  const { directory, logged } = await startServer(() => Promise.reject(errors.shift()!));
  expect(await exchange(directory, httpRequest(addBody))).toMatch(
    /\r\n\r\nPOOL_EXHAUSTED: no address is free\n$/,
  );
  expect(await exchange(directory, httpRequest(addBody))).toMatch(/\r\n\r\nbad: name\n$/);
  expect(logged.map(({ level, fields }) => [level, fields['pod'], fields['command']])).toEqual([
    ['warn', 'ns/pod', 'ADD'],
    ['warn', 'ns/pod', 'ADD'],
  ]);
});

test('says so when a handler gives no answer, or none that fits the version', async () => {
  const answers: PodHandler[] = [
    () => Promise.resolve(),
    (_request, { answer }) => answer({ cniVersion: '1.1.0' }),
  ];
  const { directory } = await startServer((...call) => answers.shift()!(...call));
  expect(await exchange(directory, httpRequest(addBody))).toMatch(/^HTTP\/1.1 400 .*\r\n\r\nINTERNAL: /s);
  expect(await exchange(directory, httpRequest(addBody))).toMatch(
    /without addresses cannot be expressed in 0.2.0\n$/,
  );
});

test('reads a request that is too large to its end, and refuses it', async () => {
  const { directory } = await startServer(giveResult);
  const large = JSON.stringify({ env: { A: 'a'.repeat(3 << 20) } });
  const answer = await exchange(directory, httpRequest(large));
  expect(answer).toMatch(
    /^HTTP\/1.1 413 .*\r\n\r\nREQUEST_TOO_LARGE: the request is larger than 2097152 bytes\n$/s,
  );
});

/** A handler that waits until its signal aborts, and an answer after that. */
function createPatient() {
  let begin: (call: Call) => void = () => undefined;
  const begun = new Promise<Call>((resolve) => (begin = resolve));
  let end: (outcome: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => (end = resolve));
  const handle: PodHandler = async (_request, call) => {
    begin(call);
    await once(call.signal, 'abort');
    end(await call.answer(result).catch((error: unknown) => error));
    throw call.signal.reason;
  };
  return { handle, begun, ended };
}

test('aborts when the client goes away, and the answer fails then', async () => {
  const { handle, begun, ended } = createPatient();
  const { directory } = await startServer(handle);
  const socket = net.connect(path.join(directory, 'socket'), () => socket.write(httpRequest(addBody)));
  const { signal } = await begun;
  socket.destroy();
  expect(await ended).toMatchObject({ code: 'CALLER_GONE' });
  expect(signal.reason).toMatchObject({ code: 'CALLER_GONE' });
});

test('does not take an answer for given that the client can no longer read', async () => {
  let end: (outcome: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => (end = resolve));
  const handle: PodHandler = async (_request, { answer }) => {
    socket.destroy(); // in the same turn of the event loop: the server cannot have heard of it
    end(await answer(result).catch((error: unknown) => error));
  };
  const { directory } = await startServer(handle);
  const socket = net.connect(path.join(directory, 'socket'), () => socket.write(httpRequest(addBody)));
  expect(await ended).toMatchObject({ code: 'CALLER_GONE' });
});

test('aborts when the deadline is over, and answers all the same', async () => {
  const handle: PodHandler = async (_request, { signal }) => {
    await once(signal, 'abort');
    throw signal.reason;
  };
  const { directory } = await startServer(handle, { deadline: 50 });
  const answer = await exchange(directory, httpRequest(addBody));
  expect(answer).toMatch(/\r\n\r\nDEADLINE_EXCEEDED: the request took longer than 50 ms\n$/);
});

test('gives up on a client that does not take its answer', async () => {
  let end: (outcome: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => (end = resolve));
  const large: Result = { ...result, dns: { domain: 'a'.repeat(8 << 20) } };
  const handle: PodHandler = async (_request, { answer }) =>
    end(await answer(large).catch((error: unknown) => error));
  const { directory } = await startServer(handle, { deadline: 100 });
  const socket = net.connect(path.join(directory, 'socket'), () => socket.write(httpRequest(addBody)));
  onTestFinished(() => void socket.destroy());
  expect(await ended).toMatchObject({ code: 'CALLER_GONE' });
});

test('does not abort a handler that has answered and goes on', async () => {
  let keep: (signal: AbortSignal) => void = () => undefined;
  const kept = new Promise<AbortSignal>((resolve) => (keep = resolve));
  let end: () => void = () => undefined;
  const handle: PodHandler = async (_request, { answer, signal }) => {
    await answer(result);
    keep(signal);
    await new Promise<void>((resolve) => (end = resolve));
  };
  const { server, directory } = await startServer(handle);
  await exchange(directory, httpRequest(addBody));
  await server.stop(30_000);
  expect((await kept).aborted).toBe(false);
  end();
});

test('logs each request without its arguments, its environment and its configuration', async () => {
  const { directory, logged } = await startServer(giveResult);
  const config = '{"cniVersion":"0.2.0","name":"openshift-sdn","token":"hunter2"}';
  const args = 'K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod;PASSWORD=hunter2';
  await exchange(directory, httpRequest(buildBody({ config, with: { CNI_ARGS: args, SECRET: 'hunter2' } })));
  await expect.poll(() => logged.length).toBe(1);
  expect(logged[0]!.fields).toEqual({ command: 'ADD', containerId: 'abc', pod: 'ns/pod', ms: 0 });
  expect(JSON.stringify(logged)).not.toContain('hunter2');
});

test('refuses the connections of other users', async () => {
  const { directory, logged } = await startServer(giveResult, {
    peerCredentials: () => ({ pid: 1, uid: (process.getuid?.() ?? 0) + 1, gid: 0 }),
  });
  expect(await exchange(directory, httpRequest(addBody)).catch(() => '')).toBe('');
  expect(logged).toMatchObject([{ level: 'warn', message: 'refused a caller' }]);
});

test('lets a server of CNI requests carry out a request', async () => {
  const seen: PodRequest['plugin'][] = [];
  const handle = handleBy(async ({ request }, answer) => {
    seen.push(request);
    if (seen.length === 1) return answer(true, result020);
    if (seen.length === 2) return answer(true, '');
    await answer(false, '{"cniVersion":"0.2.0","code":11,"msg":"later","details":"soon"}');
  });
  const { directory } = await startServer(handle);
  expect(await exchange(directory, httpRequest(addBody))).toBe(good(result020));
  expect(await exchange(directory, httpRequest(del))).toBe(good(''));
  expect(await exchange(directory, httpRequest(addBody))).toBe(bad('400 Bad Request', 'later: soon\n'));
  expect(new Map(seen[0]!.environment).get('CNI_CONTAINERID')).toBe('abc');
});

const modeOf = (...names: string[]): number => fs.statSync(path.join(...names)).mode & 0o7777;

test('makes directory, socket and config.json with the modes of the original', async () => {
  const { directory } = await startServer(giveResult);
  expect(modeOf(directory)).toBe(0o700);
  expect(modeOf(directory, 'socket')).toBe(0o600);
  expect(modeOf(directory, 'config.json')).toBe(0o444);
  expect(fs.readFileSync(path.join(directory, 'config.json'), 'utf8')).toBe(
    '{"mtu":1450,"serviceNetworkCIDR":"172.30.0.0/16"}',
  );
});

test('makes a directory anew that others could use, and leaves other files in a private one', async () => {
  const directory = path.join(makeDirectory(), 'cniserver');
  const target = `${directory}.target`;
  fs.writeFileSync(target, 'a file that is not ours');
  fs.mkdirSync(directory);
  fs.chmodSync(directory, 0o777);
  fs.symlinkSync(target, path.join(directory, 'config.json'));
  const { server } = await startServer(giveResult, { directory });
  expect(modeOf(directory)).toBe(0o700);
  expect(fs.readFileSync(target, 'utf8')).toBe('a file that is not ours');
  fs.writeFileSync(path.join(directory, 'other'), '');
  await server.stop(0);
  await startServer(giveResult, { directory });
  expect(fs.readdirSync(directory).toSorted()).toEqual(['config.json', 'other', 'socket']);
});

test('does not remove files of others to make a directory private', async () => {
  const directory = path.join(makeDirectory(), 'cniserver');
  fs.mkdirSync(directory, { mode: 0o755 });
  fs.writeFileSync(path.join(directory, 'other'), '');
  await expect(startServer(giveResult, { directory })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(fs.readdirSync(directory)).toEqual(['other']);
  const file = path.join(directory, 'other');
  await expect(startServer(giveResult, { directory: file })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

test('leaves a server that runs there alone', async () => {
  const { directory } = await startServer(giveResult);
  await expect(startServer(giveResult, { directory })).rejects.toMatchObject({ code: 'AGENT_RUNNING' });
  expect(fs.readdirSync(directory).toSorted()).toEqual(['config.json', 'socket']);
  expect(await exchange(directory, httpRequest(del))).toBe(good(''));
});

test('says so when config.json cannot be written, and goes on', async () => {
  const directory = path.join(makeDirectory(), 'cniserver');
  const { server } = await startServer(giveResult, { directory });
  fs.rmSync(path.join(directory, 'config.json'));
  fs.mkdirSync(path.join(directory, 'config.json'));
  expect(() => server.publish({ mtu: 1450 })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  expect(await exchange(directory, httpRequest(del))).toBe(good(''));
});

test('removes a config.json of an earlier life, and has none before it is published', async () => {
  const directory = path.join(makeDirectory(), 'cniserver');
  fs.mkdirSync(directory, { mode: 0o700 });
  fs.writeFileSync(path.join(directory, 'config.json'), '{"mtu":9000}');
  const { server } = await listen(giveResult, { directory });
  expect(fs.readdirSync(directory)).toEqual(['socket']);
  server.publish({ mtu: 1450 });
  expect(fs.readFileSync(path.join(directory, 'config.json'), 'utf8')).toBe('{"mtu":1450}');
});

test('removes config.json and the socket when it stops, and lets open requests end', async () => {
  const { handle, begun } = createSlow();
  const { server, directory } = await startServer(handle);
  const answer = exchange(directory, httpRequest(addBody));
  const finish = await begun;
  const stopped = server.stop(30_000);
  expect(fs.existsSync(path.join(directory, 'config.json'))).toBe(false);
  finish();
  expect(await answer).toBe(good(result020));
  await stopped;
  expect(fs.readdirSync(directory)).toEqual([]);
});

/** A handler that answers when it is told to. */
function createSlow() {
  let begin: (finish: () => void) => void = () => undefined;
  const begun = new Promise<() => void>((resolve) => (begin = resolve));
  const handle: PodHandler = async (_request, { answer }) => {
    await new Promise<void>((resolve) => begin(resolve));
    await answer(result);
  };
  return { handle, begun };
}

test('comes back with config.json when its directory was deleted', async () => {
  const { directory, logged } = await startServer(giveResult);
  fs.rmSync(directory, { recursive: true });
  await expect.poll(() => fs.existsSync(path.join(directory, 'config.json'))).toBe(true);
  expect(await exchange(directory, httpRequest(del))).toBe(good(''));
  expect(logged).toMatchObject([
    { level: 'warn', message: 'the socket was deleted, and is there again' },
    {},
  ]);
});
