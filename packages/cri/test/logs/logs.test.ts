import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createLogPrinter,
  createLogWriter,
  formatLogEntry,
  formatTimestamp,
  type LogEntry,
  parseLogLine,
  readContainerLog,
  type ReadLogOptions,
  timestampNanoseconds,
} from '@podwire/cri/logs';

let directory: string;
let file: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-logs-'));
  file = path.join(directory, '0.log');
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const line = (text: string, second = 0, stream = 'stdout', tag = 'F'): string =>
  `2026-11-20T10:00:${String(second).padStart(2, '0')}.123456789Z ${stream} ${tag} ${text}\n`;

async function read(options?: ReadLogOptions): Promise<string[]> {
  const texts: string[] = [];
  for await (const { content } of readContainerLog(file, options)) texts.push(content.toString());
  return texts;
}

describe('the format', () => {
  test('a line of containerd', () => {
    const text = '2016-10-06T00:17:09.669794202Z stdout P log content 1 ';
    const entry = parseLogLine(Buffer.from(text));
    expect(entry).toEqual({
      timestamp: '2016-10-06T00:17:09.669794202Z',
      stream: 'stdout',
      partial: true,
      content: Buffer.from('log content 1 '),
    });
    expect(formatLogEntry(entry!).toString()).toBe(`${text}\n`);
  });

  test('a line of Docker', () => {
    const text = '{"log":"content 1 \\"\\u00e9\\n","stream":"stderr","time":"2016-10-20T18:39:20.57606443Z"}';
    expect(parseLogLine(Buffer.from(text))).toEqual({
      timestamp: '2016-10-20T18:39:20.57606443Z',
      stream: 'stderr',
      partial: false,
      content: Buffer.from('content 1 "é'),
    });
    expect(parseLogLine(Buffer.from(text.replace('\\n', '')))?.partial).toBe(true);
  });

  test.each([
    '',
    'x',
    '{"log":1}',
    '{',
    '2016-10-06T00:17:09Z stdin F x',
    'yesterday stdout F x',
    '2016-10-06T00:17:09Z stdout X x',
  ])('%j is no entry', (text) => {
    expect(parseLogLine(Buffer.from(text))).toBeUndefined();
  });

  test('further tags, and no text', () => {
    expect(parseLogLine(Buffer.from('2016-10-06T00:17:09Z stdout F:later x'))?.content.toString()).toBe('x');
    expect(parseLogLine(Buffer.from('2016-10-06T00:17:09+02:00 stderr F'))?.content.length).toBe(0);
  });

  test('every entry survives', () => {
    const entries = fc.record({
      timestamp: fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n }).map(formatTimestamp),
      stream: fc.constantFrom('stdout' as const, 'stderr' as const),
      partial: fc.boolean(),
      content: fc.uint8Array().map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 10))),
    });
    fc.assert(
      fc.property(entries, (entry) => {
        expect(parseLogLine(formatLogEntry(entry).subarray(0, -1))).toEqual(entry);
      }),
    );
  });

  test('times keep their nanoseconds and their zone', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n }), (time) => {
        expect(timestampNanoseconds(formatTimestamp(time))).toBe(time);
      }),
    );
    expect(timestampNanoseconds('2026-11-20T12:00:00.5+02:00')).toBe(
      timestampNanoseconds('2026-11-20T10:00:00.500Z'),
    );
    expect(() => timestampNanoseconds('yesterday')).toThrow(RangeError);
  });
});

describe('writer and printer', () => {
  async function writeAll(chunks: readonly Buffer[], maxLine: number): Promise<LogEntry[]> {
    const lines: Buffer[] = [];
    const writer = createLogWriter('stdout', {
      maxLine,
      now: () => 0n,
      append: (data, done) => {
        lines.push(data);
        done();
      },
    });
    for (const chunk of chunks) writer.write(chunk);
    writer.end();
    await finished(writer);
    const text = Buffer.concat(lines).toString('latin1').split('\n').slice(0, -1);
    return text.map((each) => parseLogLine(Buffer.from(each, 'latin1'))!);
  }

  test('long lines are cut', async () => {
    const entries = await writeAll([Buffer.from('abcdefg\nhi')], 3);
    expect(entries.map(({ partial, content }) => [partial, content.toString()])).toEqual([
      [true, 'abc'],
      [true, 'def'],
      [false, 'g'],
      [true, 'hi'],
    ]);
  });

  test('a large piece without line breaks is looked through once', async () => {
    const writer = createLogWriter('stdout', { now: () => 0n, append: (_lines, done) => done() });
    writer.end(Buffer.alloc(32 << 20, 0x61));
    await finished(writer);
  });

  test('what a program wrote comes out again, whatever the pieces', async () => {
    const bytes = fc
      .uint8Array({ maxLength: 60 })
      .map((each) => Buffer.from(each.map((byte) => (byte % 7 === 0 ? 10 : byte))));
    await fc.assert(
      fc.asyncProperty(fc.array(bytes), fc.integer({ min: 1, max: 20 }), async (chunks, maxLine) => {
        const print = createLogPrinter();
        const printed = (await writeAll(chunks, maxLine)).map(print);
        expect(Buffer.concat(printed).equals(Buffer.concat(chunks))).toBe(true);
      }),
    );
  });

  test('the time stands once before each line', () => {
    const print = createLogPrinter({ timestamps: true });
    const entry = (stream: 'stdout' | 'stderr', partial: boolean, text: string): LogEntry => ({
      timestamp: 'T',
      stream,
      partial,
      content: Buffer.from(text),
    });
    const texts = [entry('stdout', true, 'a'), entry('stdout', false, 'b'), entry('stderr', false, 'c')].map(
      print,
    );
    expect(Buffer.concat(texts).toString()).toBe('T ab\nT c\n');
  });
});

describe('reading', () => {
  test('all of it, but what is no entry', async () => {
    fs.writeFileSync(file, `${line('one')}garbage\n${line('two', 1, 'stderr')}${line('three').slice(0, -1)}`);
    expect(await read()).toEqual(['one', 'two', 'three']);
    expect(await read({ stream: 'stderr' })).toEqual(['two']);
  });

  test('a file that is not there', async () => {
    await expect(read()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('since a time', async () => {
    fs.writeFileSync(file, [0, 1, 2].map((second) => line(`at ${second}`, second)).join(''));
    expect(await read({ since: '2026-11-20T10:00:01.123456789Z' })).toEqual(['at 1', 'at 2']);
    expect(await read({ since: '2026-11-20T10:00:01.123456790Z' })).toEqual(['at 2']);
    fs.appendFileSync(file, `2026-13-20T10:00:03Z stdout F damaged\n`);
    expect(await read({ since: '2026-11-20T10:00:02Z' })).toEqual(['at 2']);
  });

  test('the last lines', async () => {
    const texts = Array.from({ length: 5000 }, (_, index) => `line ${index} ${'x'.repeat(index % 97)}`);
    fs.writeFileSync(file, texts.map((text) => line(text)).join(''));
    for (const tailLines of [0, 1, 2, 999, 4999, 5000, 6000]) {
      expect(await read({ tailLines })).toEqual(tailLines === 0 ? [] : texts.slice(-tailLines));
    }
    fs.appendFileSync(file, line('unfinished').slice(0, -1));
    expect(await read({ tailLines: 2 })).toEqual([texts.at(-1), 'unfinished']);
  });

  test('follows what is written, through a rotation, until the container is over', async () => {
    const over = new AbortController();
    const texts: string[] = [];
    const until = async (text: string): Promise<void> => expect.poll(() => texts.at(-1)).toBe(text);
    const reading = (async () => {
      for await (const { content } of readContainerLog(file, { follow: true, finished: over.signal })) {
        texts.push(content.toString());
      }
    })();
    fs.writeFileSync(file, line('first'));
    await until('first');
    fs.appendFileSync(file, line('second').slice(0, 20));
    fs.appendFileSync(file, line('second').slice(20));
    await until('second');
    fs.appendFileSync(file, line('third'));
    fs.renameSync(file, `${file}.1`);
    fs.appendFileSync(`${file}.1`, line('fourth'));
    fs.writeFileSync(file, line('fifth'));
    await until('fifth');
    fs.truncateSync(file);
    fs.appendFileSync(file, line('6'));
    await until('6');
    fs.appendFileSync(file, line('last'));
    over.abort();
    await reading;
    expect(texts).toEqual(['first', 'second', 'third', 'fourth', 'fifth', '6', 'last']);
  });

  test('follows a link to a file elsewhere', async () => {
    const elsewhere = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-logs-'));
    const real = path.join(elsewhere, 'json.log');
    fs.writeFileSync(real, line('first'));
    fs.symlinkSync(real, file);
    const stop = new AbortController();
    const texts: string[] = [];
    for await (const { content } of readContainerLog(file, { follow: true, signal: stop.signal })) {
      texts.push(content.toString());
      if (texts.length === 1) fs.appendFileSync(real, line('second'));
      else stop.abort();
    }
    expect(texts).toEqual(['first', 'second']);
    fs.rmSync(elsewhere, { recursive: true });
  });
});
