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

describe('a terminal’s output', () => {
  test('is cut into lines wherever the bytes are cut', async () => {
    const text = `${time} one\r\n${time} two\r\n`;
    const chunks = [...text].map((character) => Buffer.from(character));
    const source = (async function* () {
      for (const chunk of chunks) yield await Promise.resolve(chunk);
    })();
    const found: string[] = [];
    for await (const messages of readMessages(source, true)) {
      found.push(...messages.map((message) => message.text.toString()));
    }
    expect(found).toEqual(['one\r', 'two\r']);
  });

  test('need not end with a line break', async () => {
    const source = (async function* () {
      yield await Promise.resolve(Buffer.from(`${time} one\r\n${time} done`));
    })();
    const found: LogMessage[] = [];
    for await (const messages of readMessages(source, true)) found.push(...messages);
    expect(found.map(({ text, isPartial }) => [text.toString(), isPartial])).toEqual([
      ['one\r', false],
      ['done', true],
    ]);
  });
});
