/** `-w`, of a view that tells of its changes. */
import { PodwireError } from '@podwire/errors';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addOutput } from '../../src/command.js';
import { breakOutput } from '../../src/interrupt.js';
import { exitCodes, type Io, type Output } from '../../src/io.js';
import { addWatch, showView } from '../../src/output/show.js';
import type { View } from '../../src/output/view.js';

type Rows = Readonly<Record<string, string>>;

interface Watch {
  /** Sets the result of the next reading; resolves when it is read. */
  change(rows: Rows | Error): Promise<void>;
  end(): Promise<void>;
  readonly out: () => string;
  readonly err: () => string;
  readonly io: Io;
}

/** Every reading is awaited, so that no test depends on time. */
function startWatch(argv: readonly string[], first: Rows | Error, terminal = false): Watch {
  let now = first;
  let wake = (): void => undefined;
  let read = (): void => undefined;
  const texts = { out: '', err: '' };
  const sink = (name: 'out' | 'err'): Output => ({
    write: (text) => void (texts[name] += text),
    isTTY: terminal,
    columns: 80,
    rows: 6,
  });
  const io: Io = {
    stdout: sink('out'),
    stderr: sink('err'),
    env: {},
    now: () => 0,
    color: false,
    exitCode: 0,
  };
  const view: View<Rows> = {
    read: () => {
      // Written when the next turn comes.
      setImmediate(() => setImmediate(read));
      return now instanceof Error ? Promise.reject(now) : Promise.resolve(now);
    },
    data: (rows) => rows,
    names: (rows) => Object.keys(rows),
    lines: (rows) => ['NAME STATE', ...Object.entries(rows).map(([name, state]) => `${name} ${state}`)],
    watch: {
      rows: (rows) => Object.entries(rows),
      follow: (ring, signal) => {
        wake = ring;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
    },
  };
  const command = addOutput(addWatch(new Command('x')), ['text', 'name', 'json']);
  command.exitOverride().parse([...argv, '-w'], { from: 'user' });
  const ended = showView(command, io, view);
  ended.catch(() => undefined);
  const nextReading = (): Promise<void> => new Promise((resolve) => (read = resolve));
  let begun: Promise<void> | undefined = nextReading();
  return {
    io,
    out: () => texts.out,
    err: () => texts.err,
    async change(rows) {
      await begun;
      begun = undefined;
      now = rows;
      const done = nextReading();
      wake();
      await done;
    },
    async end() {
      await begun;
      breakOutput();
      await ended;
    },
  };
}

test('a pipe gets the table, and then each row that has changed', async () => {
  const watch = startWatch([], { web: 'Pending', db: 'Running' });
  await watch.change({ web: 'Running', db: 'Running' });
  await watch.change({ web: 'Running', db: 'Running' });
  await watch.change({ db: 'Running', new: 'Pending' });
  await watch.end();
  expect(watch.out()).toBe('NAME STATE\nweb Pending\ndb Running\nweb Running\nnew Pending\n');
  expect(watch.io.exitCode).toBe(exitCodes.SIGPIPE);
});

test('programs get a document a line, when something has changed', async () => {
  const watch = startWatch(['-o', 'json'], { web: 'Pending' });
  await watch.change({ web: 'Pending' });
  await watch.change({ web: 'Running' });
  await watch.end();
  expect(watch.out()).toBe('{"web":"Pending"}\n{"web":"Running"}\n');
});

test('scripts get each name once', async () => {
  const watch = startWatch(['-o', 'name'], { web: 'Pending' });
  await watch.change({ web: 'Running', db: 'Pending' });
  await watch.end();
  expect(watch.out()).toBe('web\ndb\n');
});

test('a terminal is drawn again in the same place, and has no more lines than it can show', async () => {
  const watch = startWatch([], { web: 'Pending' }, true);
  await watch.change({ a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' });
  await watch.end();
  expect(watch.out()).toBe(
    '\r\u001b[JNAME STATE\nweb Pending\n\u001b[2A\r\u001b[JNAME STATE\na 1\nb 2\nc 3\n… and 3 more lines\n',
  );
});

test('what answers no more is said once, and what comes back is shown', async () => {
  const away = new PodwireError('AGENT_UNREACHABLE', 'no agent answers');
  const watch = startWatch([], { web: 'Pending' });
  await watch.change(away);
  await watch.change(away);
  await watch.change({ web: 'Running' });
  await watch.end();
  expect(watch.err()).toBe('error: no agent answers\n');
  expect(watch.out()).toBe('NAME STATE\nweb Pending\nweb Running\n');
});

test('what never answered is an error', async () => {
  const watch = startWatch([], new PodwireError('AGENT_UNREACHABLE', 'no agent answers'));
  await expect(watch.end()).rejects.toThrow('no agent answers');
});
