import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJsonStream } from '../../src/docker/json-stream.js';
import { createFrameReader, type FrameStream, writeFrame } from '../../src/docker/multiplex.js';
import { parseTime } from '../../src/docker/time.js';

/** The bytes, cut at arbitrary places. */
function cut(data: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (data.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((start, index) => data.subarray(start, at[index] ?? data.length));
}

const stream = fc.constantFrom<FrameStream>('stdout', 'stderr');

test('frames are found wherever the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(stream, fc.uint8Array({ maxLength: 40 })), { maxLength: 8 }),
      fc.array(fc.nat()),
      (frames, places) => {
        const data = Buffer.concat(frames.map(([name, payload]) => writeFrame(name, payload)));
        const read = createFrameReader();
        const found = cut(data, places).flatMap((chunk) => read(Buffer.from(chunk)));
        expect(found.map((frame) => [frame.stream, [...frame.payload]])).toEqual(
          frames.map(([name, payload]) => [name, [...payload]]),
        );
      },
    ),
  );
});

test('a frame of an unknown stream is an error', () => {
  expect(() => createFrameReader()(Buffer.from([9, 0, 0, 0, 0, 0, 0, 0]))).toThrow(/unknown stream 9/);
});

test('a frame of 4 GiB is an error before its bytes are waited for', () => {
  const header = [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
  expect(() => createFrameReader()(Buffer.from(header))).toThrow(/a frame of 4294967295 bytes/);
  const read = createFrameReader();
  read(Buffer.from(header.slice(0, 4)));
  expect(() => read(Buffer.from(header.slice(4)))).toThrow(/a frame of 4294967295 bytes/);
});

async function* of(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

test('documents are found wherever the bytes are cut, with or without lines between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), { maxLength: 5 }),
      fc.constantFrom('', '\n', '\r\n', ' '),
      fc.array(fc.nat()),
      async (documents, separator, places) => {
        const data = Buffer.from(documents.map((one) => JSON.stringify(one)).join(separator));
        const found: unknown[] = [];
        for await (const one of readJsonStream(of(cut(data, places)))) found.push(one);
        expect(found).toEqual(JSON.parse(JSON.stringify(documents)));
      },
    ),
  );
});

test('a document that is cut off is an error', async () => {
  const read = async (): Promise<void> => {
    for await (const _ of readJsonStream(of([Buffer.from('{"a":1}{"b"')]))) continue;
  };
  await expect(read()).rejects.toThrow(/cut off: \{"b"/);
});

describe('times', () => {
  test.each([
    ['2026-11-20T21:32:21.623841972Z', 1795210341623841972n],
    ['2026-11-20T21:32:21Z', 1795210341000000000n],
    ['2026-11-20T22:32:21.5+01:00', 1795210341500000000n],
    ['0001-01-01T00:00:00Z', 0n],
    ['', 0n],
    ['yesterday', 0n],
  ])('%s', (text, nanoseconds) => expect(parseTime(text)).toBe(nanoseconds));
});
