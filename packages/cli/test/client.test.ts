import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { PodwireError } from '@podwire/errors';
import { afterEach, describe, expect, test } from 'vitest';
import { openAgentApi } from '../src/api/locate.js';
import { ApiError } from '@podwire/local-api';
import { type FakeAgent, startFakeAgent, writeTemporary } from './support.js';

let agent: FakeAgent | undefined;
afterEach(async () => {
  await agent?.close();
  agent = undefined;
});

const failure = async (promise: Promise<unknown>): Promise<PodwireError> =>
  promise.then(
    () => expect.unreachable(),
    (error: PodwireError) => error,
  );

/** A server that does something else than HTTP; closed by the returned function. */
async function serveRaw(
  answer: (socket: net.Socket) => void,
): Promise<{ socket: string; close: () => void }> {
  const socket = path.join(os.tmpdir(), `podwire-cli-${process.pid}-${Math.random()}.sock`);
  const sockets = new Set<net.Socket>();
  const server = net.createServer((each) => {
    sockets.add(each);
    each.on('error', () => undefined);
    answer(each);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return {
    socket,
    close: () => {
      for (const each of sockets) each.destroy();
      server.close();
    },
  };
}

describe('questions to the agent', () => {
  test('an answer', async () => {
    agent = await startFakeAgent({ 'GET /a': { body: { b: 1 } }, 'POST /c': { body: [2] } });
    const api = openAgentApi({ socket: agent.socket });
    expect(await api.get('/a')).toEqual({ b: 1 });
    expect(await api.post('/c', { d: 3 })).toEqual([2]);
    expect(agent.asked).toEqual(['GET /a', 'POST /c {"d":3}']);
  });

  test("the agent's own errors keep code, action and details", async () => {
    const error = { code: 'FROM_THE_FUTURE', message: 'm', action: 'a', details: { x: 1 } };
    agent = await startFakeAgent({
      'GET /a': { status: 409, body: { error } },
      'GET /b': { status: 500, body: {} },
    });
    const api = openAgentApi({ socket: agent.socket });
    const caught = (await failure(api.get('/a'))) as unknown as ApiError;
    expect(caught).toBeInstanceOf(ApiError);
    expect(caught.failure).toEqual(error);
    const bare = (await failure(api.get('/b'))) as unknown as ApiError;
    expect(bare.failure).toEqual({ code: 'HTTP_500', message: 'HTTP status 500' });
  });

  test('no socket, and a file that is none', async () => {
    const none = await failure(openAgentApi({ socket: '/nonexistent/api.sock' }).get('/a'));
    expect(none.code).toBe('AGENT_UNREACHABLE');
    expect(none.message).toBe('no agent answers at /nonexistent/api.sock: there is no such socket');
    const file = await failure(openAgentApi({ socket: writeTemporary('x', '') }).get('/a'));
    expect(file.code).toBe('AGENT_UNREACHABLE');
  });

  test('the socket for plugins', async () => {
    const cni = await serveRaw((socket) => socket.end('1{"code":4}'));
    const error = await failure(openAgentApi({ socket: cni.socket }).get('/a'));
    expect(error.code).toBe('AGENT_UNREACHABLE');
    expect(error.message).toMatch(/socket for plugins/);
    cni.close();
  });

  test('something that is no agent', async () => {
    agent = await startFakeAgent({ 'GET /a': { body: '<html>' } });
    const error = await failure(openAgentApi({ socket: agent.socket }).get('/a'));
    expect(error.message).toMatch(/is no agent: "<html>"$/);
  });

  test('no answer in time, and a caller who gives up', async () => {
    const silent = await serveRaw(() => undefined);
    const late = await failure(openAgentApi({ socket: silent.socket, timeout: 20 }).get('/a'));
    expect(late.code).toBe('DEADLINE_EXCEEDED');
    const abort = new AbortController();
    const asked = failure(openAgentApi({ socket: silent.socket, signal: abort.signal }).get('/a'));
    abort.abort(new Error('never mind'));
    expect((await asked).message).toBe('never mind');
    silent.close();
  });
});
