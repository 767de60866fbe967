import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ProtocolError } from '../src/errors.js';
import { JsonStream } from '../src/rpc/json-stream.js';

const limits = { bytes: 1000, depth: 8 };
const readAll = (stream: JsonStream, ...chunks: readonly (string | Uint8Array)[]): unknown[] =>
  chunks.flatMap((chunk) => [...stream.read(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)]);

describe('the stream of messages', () => {
  test('reads the same messages, wherever the stream is cut', () => {
    const message = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 4,
    });
    const messages = fc.array(message, { maxLength: 4 });
    fc.assert(
      fc.property(messages, fc.array(fc.nat()), (sent, cuts) => {
        const bytes = Buffer.from(sent.map((message) => JSON.stringify(message)).join(''));
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        const stream = new JsonStream({ bytes: 1_000_000, depth: 32 });
        expect(readAll(stream, ...chunks)).toEqual(JSON.parse(JSON.stringify(sent)));
      }),
      { numRuns: 40 },
    );
  });

  test('takes braces, quotes and backslashes inside of texts as text', () => {
    const message = { 'a{"\\': '}]\\"{[', b: ['\\'] };
    expect(readAll(new JsonStream(limits), `${JSON.stringify(message)}\r\n {}`)).toEqual([message, {}]);
  });

  test('refuses a message that is longer than its limit, before the end is there', () => {
    const stream = new JsonStream(limits);
    expect(readAll(stream, `{"a":"${'x'.repeat(900)}`)).toEqual([]);
    expect(() => readAll(stream, 'x'.repeat(100))).toThrow('a message is longer than 1000 bytes');
  });

  test('takes many messages that are longer together', () => {
    const message = `{"a":"${'x'.repeat(600)}"}`;
    expect(readAll(new JsonStream(limits), message.repeat(5))).toHaveLength(5);
  });

  test('refuses a message that is nested too deep, and takes one that is as deep as its limit', () => {
    const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(readAll(new JsonStream(limits), nested(8))).toHaveLength(1);
    expect(() => readAll(new JsonStream(limits), nested(9))).toThrow('a message is nested deeper than 8');
  });

  const faulty: readonly (readonly [string, string | Uint8Array])[] = [
    ['an array', '[]'],
    ['a text', '"a"'],
    ['a closing brace', '}'],
    ['a bracket that closes a brace', '{"a":[}]'],
    ['a name without quotes', '{a:1}'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
  ];
  test.each(faulty)('refuses %s', (_name, chunk) => {
    expect(() => readAll(new JsonStream(limits), chunk)).toThrow(ProtocolError);
  });
});
