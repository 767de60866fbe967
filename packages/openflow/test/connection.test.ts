import { duplexPair, type Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { addFlow, connectSwitch, decodeMessage, encodeMessage, type Message } from '../src/index.js';
import { Framing } from '../src/connection/framing.js';

type Answer = (message: Message) => readonly Message[];

const features: Message = { type: 'features_reply', datapathId: '0000000000000001', tables: 254 };
const greet: Answer = ({ type }) => (type === 'features_request' ? [features] : []);

interface Scripted {
  readonly near: Duplex;
  readonly far: Duplex;
  readonly received: Message[];
}

/** A stream whose other end answers each message by a function. */
function script(answer: Answer): Scripted {
  const [near, far] = duplexPair();
  const framing = new Framing();
  const received: Message[] = [];
  far.on('data', (chunk: Buffer) => {
    for (const bytes of framing.push(chunk)) {
      const { xid, message } = decodeMessage(bytes);
      received.push(message);
      for (const reply of answer(message)) far.write(encodeMessage({ xid, message: reply }));
    }
  });
  return { near, far, received };
}

const closed = (message: Message): readonly Message[] =>
  message.type === 'bundle_control' && message.step === 'close' ? [{ ...message, step: 'closed' }] : [];

describe('a connection', () => {
  test('ends when the switch does not answer in time', async () => {
    const { near } = script(() => []);
    await expect(connectSwitch(near, { timeout: 5 })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(near.destroyed).toBe(true);
  });

  test('answers an echo with its data', async () => {
    const { near, far, received } = script(greet);
    const connection = await connectSwitch(near);
    far.write(encodeMessage({ xid: 77, message: { type: 'echo_request', data: Buffer.from('there?') } }));
    const echo = { type: 'echo_reply', data: Buffer.from('there?') };
    await expect.poll(() => received.at(-1)).toEqual(echo);
    connection.close();
  });

  test('fails what is under way when the switch goes', async () => {
    const { near, far } = script(greet);
    const connection = await connectSwitch(near);
    const barrier = connection.barrier();
    far.destroy();
    near.destroy();
    await expect(barrier).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await connection.closed).toMatchObject({ code: 'ECONNRESET' });
  });

  test('ends when a message has no length that there is', async () => {
    const { near, far } = script(greet);
    const connection = await connectSwitch(near);
    far.write(Buffer.from('0500000000000000', 'hex'));
    expect(await connection.closed).toMatchObject({ code: 'EBADMSG' });
  });

  test('fails one request when its answer cannot be read, and lives on', async () => {
    const barriers: Answer = ({ type }) => (type === 'barrier_request' ? [{ type: 'barrier_reply' }] : []);
    const { near, far } = script((message) => [...greet(message), ...barriers(message)]);
    const connection = await connectSwitch(near);
    const dump = connection.dump('flow');
    // Transaction 3 follows those of the greeting; the list has a kind that there is not.
    for (let part = 0; part < 2; part++) far.write(Buffer.from('0513001000000003ffff000000000000', 'hex'));
    await expect(dump).rejects.toMatchObject({ code: 'EBADMSG' });
    await connection.barrier();
    connection.close();
  });

  test('commits a bundle only when the switch has taken all of it', async () => {
    const refuse: Answer = (message) =>
      message.type === 'bundle_add'
        ? [{ type: 'error', error: { type: 4, code: 9 }, data: Buffer.alloc(0) }]
        : [...greet(message), ...closed(message)];
    const { near, received } = script(refuse);
    const connection = await connectSwitch(near);
    await expect(connection.applyBundle([addFlow({})])).rejects.toMatchObject({
      code: 'OFPBMC_BAD_PREREQ',
      failures: [{ index: 0 }],
    });
    await expect.poll(() => received.at(-1)).toMatchObject({ step: 'discard' });
    expect(received).not.toContainEqual(expect.objectContaining({ step: 'commit' }));
    connection.close();
  });

  test('commits no bundle that was given up while its guard looked', async () => {
    let allow = (): void => undefined;
    const guard = (): Promise<void> => new Promise((resolve) => (allow = resolve));
    const { near, received } = script((message) => [...greet(message), ...closed(message)]);
    const connection = await connectSwitch(near);
    const given = connection.applyBundle([addFlow({})], { guard, timeout: 5 });
    await expect(given).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    allow();
    await expect.poll(() => received.at(-1)).toMatchObject({ step: 'discard' });
    expect(received).not.toContainEqual(expect.objectContaining({ step: 'commit' }));
    connection.close();
  });

  test('ends a dump of several selectors with the last answer, also after one was refused', async () => {
    let asked = 0;
    const list: Message = { type: 'dump_reply', kind: 'flow', entries: [], more: false };
    const error: Message = { type: 'error', error: { type: 1, code: 6 }, data: Buffer.alloc(0) };
    const lists: Answer = ({ type }) => (type === 'dump_request' ? [(asked += 1) === 1 ? error : list] : []);
    const { near } = script((message) => [...greet(message), ...lists(message)]);
    const connection = await connectSwitch(near);
    await expect(connection.dump('flow', [{ table: 1 }, { table: 2 }])).rejects.toMatchObject({
      failures: [{ index: 0 }],
    });
    expect(await connection.dump('flow', [{ table: 1 }, { table: 2 }])).toEqual([]);
    connection.close();
  });

  test('discards a bundle that is not committed in time', async () => {
    const { near, received } = script(greet);
    const connection = await connectSwitch(near);
    await expect(connection.applyBundle([addFlow({})], { timeout: 5 })).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
    await expect.poll(() => received.at(-1)).toMatchObject({ step: 'discard' });
    connection.close();
  });
});

describe('framing', () => {
  test('finds messages in whatever pieces they come', () => {
    const framing = new Framing();
    const message = encodeMessage({ xid: 1, message: addFlow({ match: { in_port: 1 } }) });
    const stream = Buffer.concat([message, message, message]);
    const found = [...stream].flatMap((_, at) => framing.push(stream.subarray(at, at + 1)));
    expect(found).toEqual([message, message, message]);
    expect(new Framing().push(stream)).toEqual([message, message, message]);
  });
});
