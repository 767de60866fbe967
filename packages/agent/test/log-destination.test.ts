import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openLogDestination, openRotatedLog, withPriorities } from '../src/log-destination.js';
import { createLog } from '../src/log.js';
import { makeDirectory } from './fakes/sockets.js';

test('a file never grows beyond its limit, and the latest lines are kept in order', () => {
  const file = path.join(makeDirectory(), 'agent.log');
  const log = openRotatedLog(file, { maxBytes: 100, maxFiles: 3 });
  for (let number = 0; number < 100; number++) log.write(`line ${number}\n`);
  const files = [`${file}.2`, `${file}.1`, file];
  const kept = files.map((each) => fs.readFileSync(each, 'utf8'));
  for (const text of kept) expect(text.length).toBeLessThanOrEqual(100);
  const lines = kept.join('').trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(20);
  expect(lines).toEqual(lines.map((_, index) => `line ${100 - lines.length + index}`));
  expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(['agent.log', 'agent.log.1', 'agent.log.2']);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
});

test('what a file has before counts', () => {
  const file = path.join(makeDirectory(), 'agent.log');
  fs.writeFileSync(file, 'x'.repeat(95));
  openRotatedLog(file, { maxBytes: 100, maxFiles: 2 }).write('new line\n');
  expect(fs.readFileSync(file, 'utf8')).toBe('new line\n');
  expect(fs.readFileSync(`${file}.1`, 'utf8')).toHaveLength(95);
});

test('a line longer than the limit is written whole; a directory that is gone ends nothing', () => {
  const directory = makeDirectory();
  const file = path.join(directory, 'agent.log');
  const log = openRotatedLog(file, { maxBytes: 10, maxFiles: 2 });
  log.write('twenty characters ..\n');
  expect(fs.readFileSync(file, 'utf8')).toBe('twenty characters ..\n');
  fs.rmSync(directory, { recursive: true });
  log.write('nowhere\n');
});

test('lines for the journal begin with the priority of their level', () => {
  const lines: string[] = [];
  const destination = withPriorities({ write: (line) => void lines.push(line) });
  const log = createLog({ level: 'trace', nodeName: 'n', destination });
  for (const level of ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const) log[level]('said');
  expect(lines.map((line) => line.slice(0, 3))).toEqual(['<2>', '<3>', '<4>', '<6>', '<7>', '<7>']);
  expect(JSON.parse(lines[0]!.slice(3))).toMatchObject({ level: 'fatal', msg: 'said' });
});

test('another stream than the journal gets no priorities', () => {
  const file = path.join(makeDirectory(), 'agent.log');
  const log = openLogDestination({ JOURNAL_STREAM: '1:2', PODWIRE_LOG_FILE: file });
  log.write('{"level":"info"}\n');
  expect(fs.readFileSync(file, 'utf8')).toBe('{"level":"info"}\n');
});
