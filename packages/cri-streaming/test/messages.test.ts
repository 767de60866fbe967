/** Content of the streams: channel messages, results, sizes of terminals. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeResult, encodeResult } from '../src/status.js';
import { createSizeDecoder, createSizeQueue, encodeSize } from '../src/terminal-size.js';
import { codecOf, decodeMessage, encodeClose, encodeMessage } from '../src/websocket/channels.js';

const protocols = fc.constantFrom(
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  '',
);
const bytes = fc.uint8Array().map((each) => Buffer.from(each));

describe('channel messages', () => {
  test('survive', () => {
    fc.assert(
      fc.property(protocols, fc.nat({ max: 9 }), bytes, (protocol, channel, data) => {
        const codec = codecOf(protocol);
        expect(decodeMessage(codec, encodeMessage(codec, channel, data))).toEqual({ channel, data });
      }),
    );
  });

  test('as Kubernetes documents them', () => {
    const [plain, base64] = [codecOf('v4.channel.k8s.io'), codecOf('v4.base64.channel.k8s.io')];
    expect(encodeMessage(plain, 0, Buffer.from('foo\n'))).toEqual(Buffer.from([0, 102, 111, 111, 10]));
    expect(encodeMessage(base64, 0, Buffer.from('foo\n')).toString()).toBe('0Zm9vCg==');
    expect(decodeMessage(plain, Buffer.alloc(0))).toBeUndefined();
    expect(() => decodeMessage(base64, Buffer.from('0!'))).toThrow(/base64/);
  });

  test('the end of a channel is v5 only', () => {
    expect(decodeMessage(codecOf('v5.channel.k8s.io'), encodeClose(0))).toEqual({ closed: 0 });
    expect(decodeMessage(codecOf('v4.channel.k8s.io'), encodeClose(0))).toEqual({
      channel: 255,
      data: Buffer.from([0]),
    });
    expect(() => decodeMessage(codecOf('v5.channel.k8s.io'), Buffer.from([255]))).toThrow(/one channel/);
  });
});

describe('results', () => {
  test('exit codes survive where the protocol has them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('v5.channel.k8s.io', 'v4.channel.k8s.io'),
        fc.nat({ max: 255 }),
        (protocol, exitCode) => {
          expect(decodeResult(encodeResult({ exitCode }, protocol), protocol)).toEqual({ exitCode });
        },
      ),
    );
  });

  test('before v4 there is a text, or nothing', () => {
    expect(encodeResult({ exitCode: 0 }, 'v3.channel.k8s.io')).toHaveLength(0);
    expect(encodeResult({ exitCode: 2 }, 'channel.k8s.io').toString()).toContain('exit status 2');
    expect(decodeResult(Buffer.alloc(0), 'v2.channel.k8s.io')).toEqual({ exitCode: 0 });
    expect(decodeResult(Buffer.from('gone'), 'v2.channel.k8s.io')).toEqual({ message: 'gone' });
  });

  test('what containerd 1.6 answers', () => {
    const text =
      '{"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: error executing command [sh], ' +
      'exit code 5","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"5"}]}}';
    expect(decodeResult(Buffer.from(text), 'v4.channel.k8s.io')).toEqual({ exitCode: 5 });
    const failed = encodeResult({ message: 'no such container' }, 'v4.channel.k8s.io');
    expect(decodeResult(failed, 'v4.channel.k8s.io')).toEqual({
      message: 'Internal error occurred: no such container',
    });
  });

  test.each(['', '{', '[]', 'null', '{}', '{"status":"Failure","reason":"NonZeroExitCode"}'])(
    '%j is none',
    (text) => {
      expect(() => decodeResult(Buffer.from(text), 'v4.channel.k8s.io')).toThrow(/status/);
    },
  );
});

describe('sizes of a terminal', () => {
  const sizes = fc.array(fc.record({ width: fc.nat({ max: 65_535 }), height: fc.nat({ max: 65_535 }) }));

  test('survive, in whatever pieces', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 30 }), (list, piece) => {
        const stream = Buffer.concat(list.map(encodeSize));
        const decode = createSizeDecoder();
        const decoded = [];
        for (let at = 0; at < stream.length; at += piece)
          decoded.push(...decode(stream.subarray(at, at + piece)));
        expect(decoded).toEqual(list);
      }),
    );
  });

  test('names in any case, as Go reads them', () => {
    expect(createSizeDecoder()(Buffer.from(' {"width":1,"HEIGHT":2} {"Width":3,"Height":4}'))).toEqual([
      { width: 1, height: 2 },
      { width: 3, height: 4 },
    ]);
  });

  test.each(['{"Width":"1"}', '{"Width":70000}', '{"Width":-1}', 'x}', 'y'.repeat(2000)])(
    '%j is none',
    (text) => {
      expect(() => createSizeDecoder()(Buffer.from(text))).toThrow();
    },
  );

  test('a slow reader sees the newest size only', async () => {
    const queue = createSizeQueue();
    for (let width = 1; width <= 3; width += 1) queue.push({ width, height: 1 });
    queue.end();
    const seen = [];
    for await (const { width } of queue) seen.push(width);
    expect(seen).toEqual([3]);
  });
});
