import { SystemError } from '@podwire/linux';
import { describe, expect, test } from 'vitest';
import { NetlinkBatchError, NetlinkError, type NetlinkRequest } from '@podwire/netlink';
import { Conversation } from '../src/conversation.js';
import type { Message } from '../src/datagram.js';
import { ack, message, type Queued, ScriptedPort } from './scripted-port.js';

const ACK = 0x4;
const MULTI = 0x2;
const INTERRUPTED = 0x10;
const DONE = 3;
const [EPERM, EINTR, EBUSY, ENOBUFS] = [1, 4, 16, 105];

const request = (label: string, more: Partial<NetlinkRequest> = {}): NetlinkRequest => ({
  type: 20,
  flags: 0,
  payload: Buffer.from(label),
  label,
  ...more,
});

const silent = (label: string): NetlinkRequest => request(label, { unacknowledged: true });

/** A kernel that acks what asks for an ack. */
const acking = (messages: readonly Message[]): Buffer[] =>
  messages.filter(({ flags }) => (flags & ACK) !== 0).map((sent) => ack(sent, 0));

function open(answer: (messages: readonly Message[]) => readonly Queued[]) {
  const port = new ScriptedPort(answer);
  return { port, connection: new Conversation(port) };
}

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a batch', () => {
  test('goes out as one datagram, numbered, and only the last request asks for an ack', () => {
    const { port, connection } = open(acking);
    expect(connection.request([request('a'), request('bb'), request('ccc')])).toEqual([[], [], []]);
    connection.request([request('d')]);
    const [first, second] = port.sent;
    expect(port.sent).toHaveLength(2);
    expect(first!.map(({ flags }) => flags)).toEqual([0x1, 0x1, 0x1 | ACK]);
    expect(first!.map(({ payload }) => payload.toString())).toEqual(['a', 'bb', 'ccc']);
    const numbers = [...first!, ...second!].map(({ sequence }) => sequence);
    expect(numbers).toEqual([1, 2, 3, 4]);
    expect(port.waits).toBe(0);
  });

  test('is nothing when it is empty', () => {
    const { port, connection } = open(acking);
    expect(connection.request([])).toEqual([]);
    expect(port.sent).toEqual([]);
  });

  test('may be larger than any buffer so far', () => {
    const { port, connection } = open(acking);
    const large = Buffer.alloc(100_000, 7);
    connection.request([request('x', { payload: large }), request('y', { payload: large })]);
    expect(port.sent[0]!.map(({ payload }) => payload.equals(large))).toEqual([true, true]);
  });

  test('gives each request its replies', () => {
    const { connection } = open((messages) => [
      message(16, 0, messages[0]!.sequence, Buffer.from('one')),
      Buffer.concat([
        message(16, 0, messages[2]!.sequence, Buffer.from('two')),
        message(16, 0, messages[2]!.sequence, Buffer.from('three')),
        ack(messages[2]!, 0),
      ]),
    ]);
    const replies = connection.request([request('a'), request('b'), request('c')]);
    const texts = replies.map((list) => list.map(({ payload }) => Buffer.from(payload).toString()));
    expect(texts).toEqual([['one'], [], ['two', 'three']]);
  });

  test('keeps replies apart from what is received later', () => {
    const { connection } = open((messages) => [
      message(16, 0, messages[0]!.sequence, Buffer.from(`reply ${messages[0]!.sequence}`)),
      ack(messages[0]!, 0),
    ]);
    const [first] = connection.request([request('a')]).flat();
    connection.request([request('b')]);
    expect(Buffer.from(first!.payload).toString()).toBe('reply 1');
  });

  test('names every request that failed, with all that the kernel said', () => {
    const { connection } = open((messages) => [
      ack(messages[0]!, EBUSY, 'Device is busy', 36),
      ack(messages[2]!, EPERM),
      ack(messages[3]!, 0),
    ]);
    const error = failureOf(() =>
      connection.request([
        request('first'),
        request('second'),
        { type: 1, flags: 0, payload: Buffer.alloc(0) },
        request('last'),
      ]),
    );
    expect(error).toBeInstanceOf(NetlinkBatchError);
    expect((error as NetlinkBatchError).code).toBe('EBUSY');
    expect((error as NetlinkBatchError).message).toBe(
      'first: EBUSY (RTNETLINK answers: Device is busy); request 2: EPERM (RTNETLINK answers: operation not permitted)',
    );
    expect((error as NetlinkBatchError).failures).toEqual([
      {
        index: 0,
        label: 'first',
        code: 'EBUSY',
        errno: EBUSY,
        kernelMessage: 'Device is busy',
        attributeOffset: 36,
      },
      { index: 2, label: 'request 2', code: 'EPERM', errno: EPERM },
    ]);
  });

  test('takes the failure of the last request for its ack', () => {
    const { port, connection } = open((messages) => [ack(messages[1]!, EPERM)]);
    const error = failureOf(() => connection.request([request('a'), request('b')]));
    expect((error as NetlinkBatchError).failures.map(({ index }) => index)).toEqual([1]);
    expect(port.waits).toBe(0);
  });

  test('ends with a NLMSG_DONE for the last request as well', () => {
    const { connection } = open((messages) => [message(DONE, MULTI, messages[0]!.sequence, Buffer.alloc(4))]);
    expect(connection.request([request('a')])).toEqual([[]]);
  });
});

describe('a batch with unacknowledged ends', () => {
  const batch = [silent('begin'), request('a'), request('b'), silent('end')];

  test('asks the last request between them for the ack', () => {
    const { port, connection } = open(acking);
    expect(connection.request(batch)).toEqual([[], [], [], []]);
    expect(port.sent[0]!.map(({ flags }) => flags)).toEqual([0x1, 0x1, 0x1 | ACK, 0x1]);
  });

  test('is over when only its begin was answered', () => {
    const { port, connection } = open((messages) => [ack(messages[0]!, EPERM)]);
    const error = failureOf(() => connection.request(batch));
    expect((error as NetlinkBatchError).failures.map(({ label }) => label)).toEqual(['begin']);
    expect(port.waits).toBe(0);
  });

  test('reports a refused commit at its begin, although all else was acked', () => {
    const { connection } = open((messages) => [ack(messages[0]!, EBUSY), ack(messages[2]!, 0)]);
    const error = failureOf(() => connection.request(batch));
    expect((error as NetlinkBatchError).failures.map(({ label }) => label)).toEqual(['begin']);
  });

  test('needs nothing between them', () => {
    const { port, connection } = open(() => []);
    expect(connection.request([silent('begin'), silent('end')])).toEqual([[], []]);
    expect(port.waits).toBe(0);
  });
});

describe('answers', () => {
  test('that do not come are waited for once, then the exchange is given up', () => {
    const { port, connection } = open(() => []);
    const error = failureOf(() => connection.request([request('a')]));
    expect(error).toMatchObject({ code: 'ETIMEDOUT', message: 'a: no answer from the kernel' });
    expect(port.waits).toBe(1);
  });

  test('and come later do not disturb the next exchange', () => {
    let late: Message | undefined;
    const { connection } = open((messages) => {
      const [sent] = messages;
      const answers =
        late === undefined ? [] : [ack(late, EPERM), message(16, 0, late.sequence, Buffer.alloc(4))];
      late ??= sent;
      return late === sent ? [] : [...answers, ack(sent!, 0)];
    });
    expect(() => connection.request([request('a')])).toThrow(NetlinkError);
    expect(connection.request([request('b')])).toEqual([[]]);
  });

  test('of an unknown request are skipped', () => {
    const { connection } = open((messages) => [
      message(16, 0, 0, Buffer.from('a notification')),
      message(16, 0, 4711, Buffer.from('of another socket')),
      ack(messages[0]!, 0),
    ]);
    expect(connection.request([request('a')])).toEqual([[]]);
  });

  test('that the kernel dropped make the outcome unknown', () => {
    const { connection } = open((messages) => [new SystemError('recvfrom', ENOBUFS), ack(messages[0]!, 0)]);
    expect(() => connection.request([request('a')])).toThrow('dropped answers');
    const dropped = open(() => [new SystemError('recvfrom', ENOBUFS)]);
    expect(failureOf(() => dropped.connection.request([request('a')]))).toMatchObject({ code: 'ENOBUFS' });
    expect(dropped.port.waits).toBe(0);
  });

  test('that are longer than the buffer are an error', () => {
    const { connection } = open(() => [Buffer.alloc(300 * 1024)]);
    expect(failureOf(() => connection.request([request('a')]))).toMatchObject({ code: 'EMSGSIZE' });
  });
});

describe('a dump', () => {
  const entry = (sequence: number, text: string, flags = 0) =>
    message(20, MULTI | flags, sequence, Buffer.from(text));
  const done = (sequence: number, flags = 0, errno = 0) => {
    const payload = Buffer.alloc(4);
    payload.writeInt32LE(-errno, 0);
    return message(DONE, MULTI | flags, sequence, payload);
  };

  test('is read to its end', () => {
    const { port, connection } = open(([sent]) => [
      Buffer.concat([entry(sent!.sequence, 'a'), entry(sent!.sequence, 'b')]),
      entry(sent!.sequence, 'c'),
      done(sent!.sequence),
    ]);
    const texts = connection.dump(request('list')).map(({ payload }) => Buffer.from(payload).toString());
    expect(texts).toEqual(['a', 'b', 'c']);
    expect(port.sent[0]![0]!.flags).toBe(0x1 | 0x300);
  });

  test('is read up to a limit, and what is left of it is forgotten', () => {
    const { port, connection } = open(([sent]) => [
      Buffer.concat([entry(sent!.sequence, 'a', INTERRUPTED), entry(sent!.sequence, 'b')]),
      entry(sent!.sequence, 'c'),
      entry(sent!.sequence, 'd'),
      done(sent!.sequence),
    ]);
    const read = (limit: number): string[] =>
      connection.dump(request('list'), limit).map(({ payload }) => Buffer.from(payload).toString());
    expect(read(2)).toEqual(['a', 'b']);
    expect(port.renewed).toBe(1);
    expect(port.queue).toEqual([]);
  });

  test('that is not longer than its limit is read as always', () => {
    const { port, connection } = open(([sent]) => [entry(sent!.sequence, 'a'), done(sent!.sequence)]);
    expect(connection.dump(request('list'), 1)).toHaveLength(1);
    expect(port.renewed).toBe(0);
  });

  test('is read to its end and repeated when it was interrupted', () => {
    let runs = 0;
    const { port, connection } = open(([sent]) => {
      runs++;
      const flags = runs < 3 ? INTERRUPTED : 0;
      return [entry(sent!.sequence, `run ${runs}`, flags), done(sent!.sequence)];
    });
    const texts = connection.dump(request('list')).map(({ payload }) => Buffer.from(payload).toString());
    expect(texts).toEqual(['run 3']);
    expect(port.queue).toEqual([]);
  });

  test('is repeated when only its end says that it was interrupted, or when datagrams were dropped', () => {
    let runs = 0;
    const { connection } = open(([sent]) => {
      runs++;
      if (runs === 1) return [entry(sent!.sequence, 'x'), done(sent!.sequence, INTERRUPTED)];
      if (runs === 2) return [new SystemError('recvfrom', ENOBUFS), done(sent!.sequence)];
      return [entry(sent!.sequence, 'y'), done(sent!.sequence)];
    });
    expect(connection.dump(request('list'))).toHaveLength(1);
    expect(runs).toBe(3);
  });

  test('is given up when it is interrupted for ever', () => {
    const { port, connection } = open(([sent]) => [done(sent!.sequence, INTERRUPTED)]);
    const error = failureOf(() => connection.dump(request('list links')));
    expect(error).toMatchObject({ code: 'EINTR' });
    expect((error as Error).message).toContain('list links');
    expect(port.sent).toHaveLength(8);
  });

  test('fails with an error message, or with an error in its end', () => {
    const refused = open(([sent]) => [ack(sent!, EBUSY, 'no')]);
    expect(() => refused.connection.dump(request('list'))).toThrow('list: EBUSY (RTNETLINK answers: no)');
    const ended = open(([sent]) => [done(sent!.sequence, 0, EINTR)]);
    expect(() => ended.connection.dump(request('list'))).toThrow('list: EINTR');
  });

  test('does not wait for ever', () => {
    const { connection } = open(([sent]) => [entry(sent!.sequence, 'a')]);
    expect(failureOf(() => connection.dump(request('list')))).toMatchObject({ code: 'ETIMEDOUT' });
  });
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('asynchronous requests', () => {
  const never = new AbortController().signal;

  test('get their answers', async () => {
    const { connection } = open((messages) => [
      message(16, 0, messages[0]!.sequence, Buffer.from('reply')),
      ...acking(messages),
    ]);
    const replies = await connection.requestAsync([request('a'), request('b')], never);
    expect(replies.map((list) => list.length)).toEqual([1, 0]);
    await expect(connection.requestAsync([], never)).resolves.toEqual([]);
  });

  test('keep their answers although others read the socket meanwhile', async () => {
    const { port, connection } = open((messages) => [
      message(16, 0, messages[0]!.sequence, messages[0]!.payload),
      ...acking(messages),
    ]);
    const texts = (replies: readonly { payload: Uint8Array }[][]) =>
      replies.flat().map(({ payload }) => Buffer.from(payload).toString());
    port.hold = true;
    const slow = connection.requestAsync([request('slow')], never);
    const slower = connection.requestAsync([request('slower')], never);
    await settled();
    // The first is answered, but the program has not got to it yet.
    port.release();
    port.hold = false;
    expect(texts(connection.request([request('quick')]))).toEqual(['quick']);
    expect([texts(await slow), texts(await slower)]).toEqual([['slow'], ['slower']]);
  });

  test('do not share their bytes with requests sent meanwhile', async () => {
    const { port, connection } = open(acking);
    port.hold = true;
    const slow = connection.requestAsync([request('slow')], never);
    await settled();
    connection.request([request('another')]);
    port.release();
    await slow;
    expect(port.sent.map(([sent]) => sent!.payload.toString())).toEqual(['another', 'slow']);
  });

  test('reject with the reason as soon as they are aborted', async () => {
    const { port, connection } = open((messages) => [ack(messages[0]!, EPERM)]);
    port.hold = true;
    const abort = new AbortController();
    const slow = connection.requestAsync([request('slow')], abort.signal);
    await settled();
    abort.abort(new Error('too slow'));
    await expect(slow).rejects.toThrow('too slow');
    await expect(connection.requestAsync([request('x')], abort.signal)).rejects.toThrow('too slow');
    // The late answer belongs to no request, and its failure is not left unhandled.
    port.release();
    await settled();
    expect(port.queue).toEqual([]);
  });

  test('take their turns, whatever becomes of the others', async () => {
    const { port, connection } = open((messages) =>
      messages[0]!.payload.toString() === 'bad' ? [ack(messages[0]!, EPERM)] : acking(messages),
    );
    port.hold = true;
    const abort = new AbortController();
    const outcomes = Promise.allSettled([
      connection.requestAsync([request('bad')], never),
      connection.requestAsync([request('unwanted')], abort.signal),
      connection.requestAsync([request('good')], never),
    ]);
    await settled();
    abort.abort();
    expect(port.sent).toEqual([]);
    port.release();
    await settled();
    expect(port.sent).toHaveLength(1);
    port.release();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(port.sent.map(([sent]) => sent!.payload.toString())).toEqual(['bad', 'good']);
  });

  test('fail like synchronous ones', async () => {
    const { connection } = open((messages) => [ack(messages[0]!, EPERM)]);
    await expect(connection.requestAsync([request('a')], never)).rejects.toBeInstanceOf(NetlinkBatchError);
  });

  test('hold the port open until they are done', async () => {
    const { port, connection } = open(acking);
    port.hold = true;
    const slow = connection.requestAsync([request('slow')], never);
    connection.close();
    connection.close();
    await settled();
    expect(port.closed).toBe(0);
    port.release();
    await slow;
    await settled();
    expect(port.closed).toBe(1);
  });
});

test('a closed connection says so', async () => {
  const { port, connection } = open(acking);
  connection.close();
  connection.close();
  expect(port.closed).toBe(1);
  expect(failureOf(() => connection.request([request('a')]))).toMatchObject({ code: 'EBADF' });
  expect(failureOf(() => connection.dump(request('a')))).toMatchObject({ code: 'EBADF' });
  const late = connection.requestAsync([request('a')], new AbortController().signal);
  await expect(late).rejects.toMatchObject({ code: 'EBADF' });
});
