/** The client against a daemon that is written by hand, behind a real socket. */
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Control, openControl, type OpenOptions } from '@podwire/unixctl';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly string[];
}

type Behave = (socket: net.Socket, request: Request) => unknown;

/** Requests are small, so each comes in one piece, alone or with others. */
const parseRequests = (chunk: Buffer): Request[] =>
  JSON.parse(`[${chunk.toString().replaceAll('}{', '},{')}]`) as Request[];

async function serve(behave: Behave): Promise<string> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-unixctl-'));
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    open.add(socket.on('error', () => undefined));
    socket.on('data', (chunk) => parseRequests(chunk).forEach((request) => behave(socket, request)));
  });
  const file = path.join(directory, 'daemon.1.ctl');
  await new Promise<void>((resolve) => server.listen(file, resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
    fs.rmSync(directory, { recursive: true, force: true });
  });
  return file;
}

async function openDaemon(behave: Behave, options: OpenOptions = {}): Promise<Control> {
  const control = await openControl(await serve(behave), options);
  onTestFinished(() => control.close());
  return control;
}

const answer =
  (members: object): Behave =>
  (socket, { id }) =>
    socket.write(JSON.stringify({ id, result: null, error: null, ...members }));

test('sends a command with its arguments, and returns the text of the answer', async () => {
  const requests: Request[] = [];
  const control = await openDaemon((socket, request) => {
    requests.push(request);
    answer({ result: 'Datapath actions: drop\n' })(socket, request);
  });
  expect(await control.call('ofproto/trace', ['br0', 'ip'])).toBe('Datapath actions: drop\n');
  expect(await control.call('version')).toBe('Datapath actions: drop\n');
  expect(requests.map(({ method, params }) => [method, params])).toEqual([
    ['ofproto/trace', ['br0', 'ip']],
    ['version', []],
  ]);
});

test('tells the refusal of a command in the words of the daemon', async () => {
  const control = await openDaemon(answer({ error: 'brX: unknown bridge\n' }));
  await expect(control.call('ofproto/trace', ['brX'])).rejects.toMatchObject({
    code: 'REFUSED',
    message: 'ofproto/trace: brX: unknown bridge',
  });
});

test.each([
  ['is no text', { result: ['a text'] }, 'version: the answer is no text'],
  ['is nested deeper than any', { result: [[1]] }, /nested deeper than 2/],
  ['is longer than the limit', { result: 'x'.repeat(1_000) }, /longer than 500 bytes/],
])('refuses an answer that %s', async (_, members, message) => {
  const control = await openDaemon(answer(members), { limit: 500 });
  const failure = control.call('version');
  await expect(failure).rejects.toMatchObject({ name: 'ControlError' });
  await expect(failure).rejects.toThrow(message);
});

test('refuses what is no JSON', async () => {
  const control = await openDaemon((socket) => socket.write('HTTP/1.1 400 Bad Request'));
  await expect(control.call('version')).rejects.toThrow('a message does not begin with {');
});

test('ends a call without an answer at its deadline', async () => {
  const control = await openDaemon(() => undefined);
  await expect(control.call('version', [], { timeout: 5 })).rejects.toMatchObject({
    ...{ name: 'ControlError', code: 'TIMEOUT', message: 'version: no answer in 5 ms' },
  });
});

test('drops an answer that comes after the deadline', async () => {
  const late: (() => void)[] = [];
  const control = await openDaemon((socket, request) => {
    if (request.method === 'slow') late.push(() => answer({ result: 'late' })(socket, request));
    else {
      for (const send of late) send();
      answer({ result: 'in time' })(socket, request);
    }
  });
  await expect(control.call('slow', [], { timeout: 5 })).rejects.toMatchObject({ code: 'TIMEOUT' });
  expect(await control.call('version')).toBe('in time');
});

test('ends a call with the reason of its signal', async () => {
  const abort = new AbortController();
  const reason = new Error('interrupted');
  const control = await openDaemon(() => abort.abort(reason));
  await expect(control.call('version', [], { signal: abort.signal })).rejects.toBe(reason);
});

test('does not send a command under a signal that is aborted already', async () => {
  const requests: Request[] = [];
  const control = await openDaemon((socket, request) => {
    requests.push(request);
    answer({ result: '' })(socket, request);
  });
  const reason = new Error('interrupted');
  await expect(control.call('exit', [], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await control.call('version');
  expect(requests.map(({ method }) => method)).toEqual(['version']);
});

test('says that the outcome is unknown when the daemon ends the connection', async () => {
  const control = await openDaemon((socket) => socket.end());
  await expect(control.call('exit')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await expect(control.call('version')).rejects.toMatchObject({ code: 'NOT_SENT' });
});

test('sends nothing any more after its end', async () => {
  const control = await openDaemon(answer({ result: '' }));
  control.close();
  await expect(control.call('version')).rejects.toMatchObject({ code: 'NOT_SENT' });
});

test('tells why there is no connection', async () => {
  await expect(openControl('/nonexistent/daemon.1.ctl')).rejects.toMatchObject({
    code: 'NOT_SENT',
    cause: { code: 'ENOENT' },
  });
});
