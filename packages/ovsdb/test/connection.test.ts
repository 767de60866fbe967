import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OvsdbError, RefusedError } from '../src/errors.js';
import type { Connection } from '../src/rpc/connection.js';
import { defaultLimits } from '../src/rpc/limits.js';
import { createBench } from './support/peer.js';

const ask = (connection: Connection, method = 'ask', signal?: AbortSignal): Promise<unknown> =>
  connection.request(method, [], { timeout: 1000, signal, read: (result) => result });

/** The error that work ends with. */
const failureOf = (work: Promise<unknown>): Promise<OvsdbError> =>
  work.then(
    (value) => expect.fail(`it ended with ${JSON.stringify(value)}`),
    (error: unknown) => error as OvsdbError,
  );

describe('requests', () => {
  test('are answered in any order', async () => {
    const { peer, connection } = createBench();
    const answers = [ask(connection, 'one'), ask(connection, 'two')];
    const requests = [await peer.next(), await peer.next()];
    for (const { id, method } of requests.reverse()) peer.send({ id, result: `of ${method}`, error: null });
    expect(await Promise.all(answers)).toEqual(['of one', 'of two']);
  });

  test.each([
    ['a text', 'unknown method', 'unknown method', undefined],
    ['an object', { error: 'unknown database', details: 'no D' }, 'unknown database', 'no D'],
  ])('are refused with %s as error', async (_name, error, name, details) => {
    const { peer, connection } = createBench();
    const refused = failureOf(ask(connection));
    await peer.answer(null, error);
    expect(await refused).toBeInstanceOf(RefusedError);
    expect(await refused).toMatchObject({ code: 'REFUSED', error: name, details });
  });

  test('read their result before the notification behind it', async () => {
    const seen: string[] = [];
    const { peer, connection } = createBench({ onNotification: (method) => void seen.push(method) });
    const read = (): number => seen.push('answer');
    const answer = connection.request('ask', [], { timeout: 1000, read });
    const { id } = await peer.next();
    peer.send(
      '{"id":null,"method":"first"}' + JSON.stringify({ id, result: {}, error: null }) + '{"method":"last"}',
    );
    await answer;
    expect(seen).toEqual(['first', 'answer', 'last']);
  });

  test('end with the error of their reader, and the connection goes on', async () => {
    const { peer, connection } = createBench();
    const read = (): never => {
      throw new Error('unreadable');
    };
    const answer = failureOf(connection.request('ask', [], { timeout: 1000, read }));
    await peer.answer(1);
    expect((await answer).message).toBe('unreadable');
    expect(connection.isOpen).toBe(true);
  });

  test('without an answer in time have an unknown outcome, and a late answer is dropped', async () => {
    const { peer, connection, clock } = createBench();
    const answer = failureOf(ask(connection));
    const { id } = await peer.next();
    await clock.advance(1000);
    expect(await answer).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: 'ask was sent to the peer, and its outcome is unknown: no answer within 1000 ms',
    });
    peer.send({ id, result: 1, error: null });
    const next = ask(connection);
    await peer.answer(2);
    expect(await next).toBe(2);
  });

  test('that are aborted have an unknown outcome; a transaction is cancelled at the server', async () => {
    const { peer, connection } = createBench();
    const controller = new AbortController();
    const answer = failureOf(ask(connection, 'transact', controller.signal));
    const { id } = await peer.next();
    controller.abort(new Error('enough'));
    expect(await answer).toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: { message: 'enough' } });
    expect(await peer.next()).toEqual({ id: null, method: 'cancel', params: [id] });
  });

  test('that are aborted before are not sent', async () => {
    const { peer, connection } = createBench();
    await expect(ask(connection, 'ask', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    const other = ask(connection, 'other');
    expect((await peer.answer(1)).method).toBe('other');
    await other;
  });

  test('at a disconnect have an unknown outcome; later ones are not sent', async () => {
    const { peer, connection } = createBench();
    const answers = [failureOf(ask(connection, 'transact')), failureOf(ask(connection))];
    await peer.next();
    peer.stream.destroy();
    for (const answer of answers) expect(await answer).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await failureOf(ask(connection))).toMatchObject({ code: 'NOT_SENT' });
  });

  test('are not sent when too many are without an answer', async () => {
    const { connection } = createBench({ limits: { ...defaultLimits, pending: 1 } });
    const first = failureOf(ask(connection));
    expect(await failureOf(ask(connection))).toMatchObject({ code: 'NOT_SENT' });
    connection.close(new Error('over'));
    await first;
  });

  test('are not sent to a server that takes nothing', async () => {
    const stream = new Duplex({ read: () => undefined, write: () => undefined });
    const { connection } = createBench({ stream, limits: { ...defaultLimits, unsent: 10 } });
    const first = failureOf(ask(connection));
    expect(await failureOf(ask(connection))).toMatchObject({ code: 'NOT_SENT' });
    connection.close(new Error('over'));
    await first;
  });
});

describe('a connection', () => {
  test('answers an echo, and refuses other requests of the server', async () => {
    const { peer } = createBench();
    peer.send({ id: 'e', method: 'echo', params: ['x'] });
    expect(await peer.next()).toEqual({ id: 'e', result: ['x'], error: null });
    peer.send({ id: 7, method: 'stolen', params: [] });
    expect(await peer.next()).toEqual({ id: 7, result: null, error: 'unknown method' });
  });

  test('is cut in the middle of a message: what came before it counts', async () => {
    const { peer, connection, notifications } = createBench();
    const answer = failureOf(ask(connection));
    await peer.next();
    peer.send('{"method":"update","params":[1],"id":null}{"id":1,"result":[');
    peer.stream.end();
    expect(await answer).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(notifications).toEqual([['update', [1]]]);
  });

  test.each([
    ['a message that is too long', `{"a":"${'x'.repeat(2000)}`, 'longer than 1000 bytes'],
    ['a message that is nested too deep', `{"a":${'['.repeat(50)}`, 'nested deeper than 32'],
    ['something that is not JSON', '{"a":}', 'not JSON'],
    ['a message that is no request and no answer', '{"params":[]}', 'neither a request nor an answer'],
    ['bytes between messages', '{"method":"a","id":null}x', 'does not begin with {'],
  ])('ends at %s', async (_name, text, message) => {
    const { peer, connection } = createBench({ limits: { ...defaultLimits, bytes: 1000 } });
    const answer = failureOf(ask(connection));
    await peer.next();
    peer.send(text);
    expect((await connection.closed).message).toContain(message);
    expect(await answer).toMatchObject({ code: 'OUTCOME_UNKNOWN', cause: { code: 'PROTOCOL' } });
    expect(await peer.hasEnded()).toBe(true);
  });

  test('stays open or ends, whatever JSON comes, and settles each call', async () => {
    const member = fc.oneof(fc.constantFrom('update3', 1, null), fc.jsonValue({ maxDepth: 2 }));
    const keys = { id: member, method: member, params: member, result: member, error: member };
    const message = fc.record(keys, { requiredKeys: [] });
    const property = fc.asyncProperty(fc.array(message, { maxLength: 4 }), async (messages) => {
      const { peer, connection } = createBench();
      const answer = ask(connection).then(
        () => 'answered',
        (error: unknown) => (error instanceof OvsdbError ? error.code : String(error)),
      );
      for (const each of messages) peer.send(each);
      await new Promise((resolve) => setImmediate(resolve));
      connection.close(new Error('over'));
      expect(['answered', 'REFUSED', 'OUTCOME_UNKNOWN']).toContain(await answer);
    });
    await fc.assert(property);
  });

  test('ends when a notification cannot be taken', async () => {
    const { peer, connection } = createBench({
      onNotification: () => {
        throw new Error('unknown row');
      },
    });
    peer.send({ id: null, method: 'update3', params: [] });
    expect((await connection.closed).message).toBe('unknown row');
  });

  test('asks a silent server for an echo, and ends when there is none', async () => {
    const { peer, connection, clock } = createBench({ probeInterval: 5000 });
    await clock.advance(5000);
    expect(await peer.next()).toMatchObject({ method: 'echo' });
    peer.send({ id: 'probe', result: [], error: null });
    await clock.settle();
    await clock.advance(5000);
    expect(await peer.next()).toMatchObject({ method: 'echo' });
    expect(connection.isOpen).toBe(true);
    await clock.advance(5000);
    expect((await connection.closed).message).toBe('the server was silent for 10000 ms');
  });

  test('asks for no echo while the server speaks', async () => {
    const { peer, connection, clock } = createBench({ probeInterval: 5000 });
    for (let beat = 0; beat < 5; beat++) {
      peer.send({ id: null, method: 'update', params: [] });
      await clock.advance(4000);
    }
    const request = ask(connection, 'first');
    expect((await peer.answer(1)).method).toBe('first');
    await request;
  });
});
