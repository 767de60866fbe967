import zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createFrameDecoder,
  createHeaderCompressor,
  createHeaderDecompressor,
  decodeHeaderBlock,
  encodeFrame,
  encodeHeaderBlock,
  type SpdyFrame,
  SpdyProtocolError,
} from '../src/spdy/index.js';
import { headerDictionary, headerDictionaryId } from '../src/spdy/dictionary.js';

const uint31 = fc.integer({ min: 1, max: 0x7fff_ffff });
const uint32 = fc.nat({ max: 0xffff_ffff });
const bytes = (maxLength = 200) => fc.uint8Array({ maxLength }).map((each) => Buffer.from(each));
const reply = { streamId: uint31, fin: fc.boolean(), block: bytes() };

const frames: fc.Arbitrary<SpdyFrame> = fc.oneof(
  fc.record({
    type: fc.constant('synStream' as const),
    ...reply,
    associatedTo: fc.nat({ max: 0x7fff_ffff }),
    priority: fc.nat({ max: 7 }),
    unidirectional: fc.boolean(),
  }),
  fc.record({ type: fc.constant('synReply' as const), ...reply }),
  fc.record({ type: fc.constant('headers' as const), ...reply }),
  fc.record({
    type: fc.constant('rstStream' as const),
    streamId: uint31,
    status: fc.integer({ min: 1, max: 11 }),
  }),
  fc.record({
    type: fc.constant('settings' as const),
    clear: fc.boolean(),
    entries: fc.array(
      fc.record({ id: fc.nat({ max: 0xff_ffff }), flags: fc.nat({ max: 255 }), value: uint32 }),
      { maxLength: 9 },
    ),
  }),
  fc.record({ type: fc.constant('ping' as const), id: uint32 }),
  fc.record({
    type: fc.constant('goAway' as const),
    lastGoodStreamId: fc.nat({ max: 0x7fff_ffff }),
    status: uint32,
  }),
  fc.record({
    type: fc.constant('windowUpdate' as const),
    streamId: fc.nat({ max: 0x7fff_ffff }),
    delta: uint31,
  }),
  fc.record({ type: fc.constant('data' as const), streamId: uint31, fin: fc.boolean(), data: bytes() }),
);

/** The same stream of bytes, cut anywhere. */
function cut(stream: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(stream.subarray(at, at + size));
    at += size;
  }
  return [...chunks, stream.subarray(at)];
}

/** Puts the pieces of DATA frames together again where one was cut. */
function joinData(pieces: readonly SpdyFrame[], whole: readonly SpdyFrame[]): SpdyFrame[] {
  const queue = [...pieces];
  return whole.map((expected) => {
    let frame = queue.shift()!;
    while (expected.type === 'data' && frame.type === 'data' && frame.data.length < expected.data.length) {
      const next = queue.shift() as typeof frame;
      frame = { ...next, data: Buffer.concat([frame.data, next.data]) };
    }
    return frame;
  });
}

describe('frames', () => {
  test('come out as they went in, however the bytes are cut', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(frames, { maxLength: 8 }), cuts, (list, sizes) => {
        const decode = createFrameDecoder();
        const decoded = cut(Buffer.concat(list.map(encodeFrame)), sizes).flatMap((chunk) => decode(chunk));
        expect(joinData(decoded, list)).toEqual(list);
      }),
    );
  });

  test('noise gives frames or a protocol error, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(bytes(64)), (chunks) => {
        const decode = createFrameDecoder();
        try {
          for (const chunk of chunks) decode(chunk);
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyProtocolError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('noise behind the head of a control frame too', () => {
    fc.assert(
      fc.property(fc.nat({ max: 12 }), fc.nat({ max: 255 }), bytes(40), (type, flags, payload) => {
        const head = Buffer.from([0x80, 3, 0, type, flags, 0, 0, payload.length]);
        try {
          for (const frame of createFrameDecoder()(Buffer.concat([head, payload]))) {
            expect(createFrameDecoder()(encodeFrame(frame))).toEqual([frame]);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyProtocolError);
        }
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ['an unknown type', '8003000a0000000400000001'],
    ['another version', '800200060000000400000001'],
    ['DATA on stream 0', '0000000000000001ff'],
    ['SYN_STREAM on stream 0', '800300010000000a00000000000000000000'],
    ['a ping of two words', '80030006000000080000000100000002'],
    ['a reset with status 0', '80030003000000080000000100000000'],
    ['a window update of 0', '80030009000000080000000100000000'],
    ['settings with another count', '800300040000000400000001'],
    ['a control frame of 16 MiB', '8003000100ffffff'],
  ])('%s ends it', (_name, hex) => {
    expect(() => createFrameDecoder()(Buffer.from(hex, 'hex'))).toThrow(SpdyProtocolError);
  });

  test('limits are told before the payload comes', () => {
    const decode = createFrameDecoder({ dataPayload: 1000 });
    expect(() => decode(Buffer.from('00000001000003e9', 'hex'))).toThrow(/1001 bytes/);
    expect(createFrameDecoder({ dataPayload: 1001 })(Buffer.from('00000001000003e9', 'hex'))).toEqual([]);
  });

  test('a large DATA frame passes through in pieces', () => {
    const decode = createFrameDecoder();
    decode(Buffer.from('0000000101ffffff', 'hex'));
    let length = 0;
    const piece = Buffer.alloc(65_535);
    for (let left = 0xff_ffff; left > 0; left -= piece.length) {
      const [frame] = decode(piece.subarray(0, left)) as [SpdyFrame & { type: 'data' }];
      length += frame.data.length;
      expect(frame.fin).toBe(length === 0xff_ffff);
    }
  });

  test('no frame is longer than its length can say', () => {
    expect(() =>
      encodeFrame({ type: 'data', streamId: 1, fin: false, data: Buffer.alloc(0x100_0000) }),
    ).toThrow(RangeError);
  });
});

describe('headers', () => {
  const maps = fc
    .array(
      fc.tuple(
        fc.string({ minLength: 1 }).map((name) => name.toLowerCase()),
        fc.string(),
      ),
    )
    .map((entries) => new Map(entries));

  test('survive compression, block after block', () => {
    fc.assert(
      fc.property(fc.array(maps, { maxLength: 10 }), (list) => {
        const pack = createHeaderCompressor();
        const unpack = createHeaderDecompressor();
        for (const headers of list) {
          expect(decodeHeaderBlock(unpack(pack(encodeHeaderBlock(headers))))).toEqual(headers);
        }
      }),
    );
  });

  test('are one zlib stream', () => {
    const pack = createHeaderCompressor();
    const blocks = Array.from({ length: 300 }, (_, index) =>
      encodeHeaderBlock(
        new Map([
          ['streamtype', 'data'],
          ['requestid', String(index)],
          ['x', 'y'.repeat(index * 3)],
        ]),
      ),
    );
    const stream = Buffer.concat(blocks.map(pack));
    const plain = zlib.inflateSync(stream, {
      dictionary: headerDictionary,
      finishFlush: zlib.constants.Z_SYNC_FLUSH,
    });
    expect(plain.equals(Buffer.concat(blocks))).toBe(true);
  });

  test('of a peer that keeps one zlib stream are read', async () => {
    const peer = zlib.createDeflate({ dictionary: headerDictionary });
    const unpack = createHeaderDecompressor();
    for (let index = 0; index < 300; index += 1) {
      const plain = encodeHeaderBlock(
        new Map([
          ['requestid', String(index)],
          ['x', 'y'.repeat(index * 3)],
        ]),
      );
      const packed = await new Promise<Buffer>((resolve) => {
        peer.write(plain);
        peer.flush(zlib.constants.Z_SYNC_FLUSH, () => resolve(peer.read() as Buffer));
      });
      expect(unpack(packed).equals(plain)).toBe(true);
    }
    peer.close();
  });

  test('the dictionary is the protocol’s', () => {
    let [low, high] = [1, 0];
    for (const byte of headerDictionary) {
      low = (low + byte) % 65_521;
      high = (high + low) % 65_521;
    }
    expect(((high << 16) | low) >>> 0).toBe(headerDictionaryId);
    expect(headerDictionary.length).toBe(1423);
  });

  test('a bomb is not unpacked', () => {
    const packed = createHeaderCompressor()(Buffer.alloc(1_000_000));
    expect(packed.length).toBeLessThan(2000);
    expect(() => createHeaderDecompressor(65_536)(packed)).toThrow(SpdyProtocolError);
  });

  test.each([
    ['nothing', ''],
    ['zlib without dictionary', '789c030000000001'],
    ['another dictionary', '78bb00000001620000'],
  ])('%s is refused', (_name, hex) => {
    expect(() => createHeaderDecompressor()(Buffer.from(hex, 'hex'))).toThrow(SpdyProtocolError);
  });

  test('noise gives headers or a protocol error', () => {
    fc.assert(
      fc.property(bytes(), (block) => {
        try {
          decodeHeaderBlock(block);
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyProtocolError);
        }
        const start = Buffer.from('78bbe3c6a7c2', 'hex');
        try {
          createHeaderDecompressor()(Buffer.concat([start, block]));
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyProtocolError);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('a name stands once, and in lower case', () => {
    const block = (count: number, ...texts: string[]): Buffer => {
      const number = (value: number): Buffer => Buffer.from([0, 0, 0, value]);
      return Buffer.concat([
        number(count),
        ...texts.flatMap((text) => [number(text.length), Buffer.from(text)]),
      ]);
    };
    expect(decodeHeaderBlock(block(1, 'a', 'b'))).toEqual(new Map([['a', 'b']]));
    expect(() => decodeHeaderBlock(block(2, 'a', 'b', 'a', 'c'))).toThrow(/twice/);
    expect(() => decodeHeaderBlock(block(1, 'A', 'b'))).toThrow(/lower case/);
    expect(() => decodeHeaderBlock(block(1, 'a', 'b', 'c'))).toThrow(/left over/);
  });
});
