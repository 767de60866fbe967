import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findPosition,
  type LogMessage,
  parseMessage,
  renderLine,
  skipKnown,
  toSince,
} from '../../src/containers/logs/format.js';
import { writeFrame } from '../../src/docker/multiplex.js';
import { readMessages } from '../../src/containers/logs/read-messages.js';

const time = '2026-11-20T21:32:21.623841972Z';

test('a message of Docker is a line of the log', () => {
  const whole = parseMessage('stdout', Buffer.from(`${time} hello world\n`))!;
  expect(renderLine(whole).toString()).toBe(`${time} stdout F hello world\n`);
  const part = parseMessage('stderr', Buffer.from(`${time} hel`))!;
  expect(renderLine(part).toString()).toBe(`${time} stderr P hel\n`);
  const empty = parseMessage('stdout', Buffer.from(`${time} \n`))!;
  expect(renderLine(empty).toString()).toBe(`${time} stdout F \n`);
});

test('since is the very moment of the last line', () => {
  expect(toSince({ time, count: 1 })).toBe('1795210341.623841972');
  expect(toSince({ time: '2026-11-20T21:32:21Z', count: 1 })).toBe('1795210341.000000000');
});

test('wherever a log breaks off, going on makes it whole', () => {
  // Times that are equal more often than not, as those of a burst are.
  const message = fc.record({
    at: fc.integer({ min: 0, max: 5 }),
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
    text: fc.string().map((text) => text.replaceAll('\n', '')),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 30 }), fc.nat(), (raw, where) => {
      const all: LogMessage[] = [...raw]
        .sort((a, b) => a.at - b.at)
        .map(({ at, stream, text }) => ({
          time: `2026-11-20T21:32:21.00000000${at}Z`,
          ...{ stream, text: Buffer.from(text), isPartial: false },
        }));
      const broken = all.slice(0, where % (all.length + 1)).map((one) => renderLine(one).toString());
      const position = findPosition(broken.join(''));
      const again = all.filter((one) => position === undefined || one.time >= position.time);
      const rest = again.filter(skipKnown(position)).map((one) => renderLine(one).toString());
      expect([...broken, ...rest]).toEqual(all.map((one) => renderLine(one).toString()));
    }),
  );
});

async function read(chunks: readonly Buffer[], tty = true): Promise<LogMessage[]> {
  const source = (async function* () {
    for (const chunk of chunks) yield await Promise.resolve(chunk);
  })();
  const found: LogMessage[] = [];
  for await (const messages of readMessages(source, tty)) found.push(...messages);
  return found;
}

/** The bytes in pieces of a size. */
function* piecesOf(data: Buffer, size: number): Generator<Buffer> {
  for (let start = 0; start < data.length; start += size) yield data.subarray(start, start + size);
}

const describeMessage = ({ time: at, text, isPartial }: LogMessage) => [
  at.slice(-3, -1),
  text.length,
  isPartial ? 'P' : 'F',
];

describe('a terminal’s output', () => {
  test('is cut into lines wherever the bytes are cut', async () => {
    const found = await read([...piecesOf(Buffer.from(`${time} one\r\n${time} two\r\n`), 1)]);
    expect(found.map(({ text }) => text.toString())).toEqual(['one\r', 'two\r']);
  });

  test('need not end with a line break', async () => {
    const found = await read([Buffer.from(`${time} one\r\n${time} done`)]);
    expect(found.map(({ text, isPartial }) => [text.toString(), isPartial])).toEqual([
      ['one\r', false],
      ['done', true],
    ]);
  });

  const at = (nanoseconds: number): string => `2026-11-20T21:32:21.6238419${nanoseconds}Z `;
  /** As Docker sends a line of more than 16 KiB: a message for each part, with its time, and no break between. */
  const longLine = Buffer.from(
    `${at(10)}${'a'.repeat(16_384)}${at(11)}${'b'.repeat(16_384)}${at(12)}ccc\r\n${at(13)}next\r\n`,
  );

  test.each([1, 7, 1000, 16_415, 1 << 20])(
    'is in parts of 16 KiB with their own times, in pieces of %i bytes',
    async (size) => {
      expect((await read([...piecesOf(longLine, size)])).map(describeMessage)).toEqual([
        ['10', 16_384, 'P'],
        ['11', 16_384, 'P'],
        ['12', 4, 'F'],
        ['13', 5, 'F'],
      ]);
    },
  );

  test('has the times out of its text also where Docker has cut characters in two and replaced them', async () => {
    const torn = `${'a'.repeat(16_383)}\ufffd`;
    const found = await read([Buffer.from(`${at(10)}${torn}${at(11)}\ufffdbc\n`)]);
    expect(found.map(describeMessage)).toEqual([
      ['10', 16_384, 'P'],
      ['10', 2, 'P'],
      ['11', 5, 'F'],
    ]);
    expect(Buffer.concat(found.map(({ text }) => text)).toString()).toBe(`${torn}\ufffdbc`);
  });

  test('a time within a line that Docker does not cut is the program’s own', async () => {
    const text = `${'a'.repeat(16_000)} ${at(10)} ${'a'.repeat(100)}`;
    const [found] = await read([Buffer.from(`${at(11)}${text}\n`)]);
    expect(found?.text.toString()).toBe(text);
  });

  test('without line breaks and without times is cut at 16 KiB all the same, and nothing of it is kept', async () => {
    const piece = Buffer.alloc(1 << 20, 0x61);
    const found = await read([Buffer.from(at(10)), ...Array.from({ length: 64 }, () => piece)]);
    expect(Math.max(...found.map(({ text }) => text.length))).toBe(16_384);
    expect(found.reduce((sum, { text }) => sum + text.length, 0)).toBe(64 << 20);
    expect(found.every(({ isPartial }) => isPartial)).toBe(true);
  });

  test('that has no time, such as what the engine says of an error, is left out', async () => {
    expect(await read([Buffer.from(`Error grabbing logs: away\n${at(10)}line\n`)])).toHaveLength(1);
    expect(await read([Buffer.alloc(1 << 20, 0x61)])).toEqual([]);
  });
});

test('a frame that is longer than a line of the log may be is written in parts', async () => {
  const found = await read([writeFrame('stderr', Buffer.from(`${time} ${'a'.repeat(40_000)}\n`))], false);
  expect(found.map(({ text, isPartial }) => [text.length, isPartial])).toEqual([
    [16_384, true],
    [16_384, true],
    [7_232, false],
  ]);
});
