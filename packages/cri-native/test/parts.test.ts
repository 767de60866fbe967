import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContainerConfig, PodSandboxConfig } from '@podwire/cri';
import { createFrameReader, encodeFrame, type Frame } from '../src/native/frames.js';
import { encodeInstruction } from '../src/native/instruction.js';
import { parseState } from '../src/native/state-file.js';
import { Singleflight } from '@podwire/platform';
import { formatContainer, formatSandbox, parseContainer, parseSandbox } from '../src/state/record.js';
import { parseStat } from '../src/stats.js';

describe('instructions', () => {
  test('strings that end with NUL', () => {
    expect(encodeInstruction([['tty'], ['user', 1, 2n], ['arg', '']]).toString()).toBe(
      'tty\0user\x001\x002\0arg\0\0',
    );
  });

  test('a string with a NUL cannot smuggle in another one', () => {
    expect(() => encodeInstruction([['arg', 'a\0privileged']])).toThrow(RangeError);
  });
});

describe('frames', () => {
  test('are whole again however they come', () => {
    const frame = fc.record({
      type: fc.constantFrom('o', 'e', 'a'),
      bytes: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(
        fc.array(frame),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        (frames, sizes) => {
          const all = Buffer.concat(frames.map(({ type, bytes }) => encodeFrame(type, bytes)));
          const seen: Frame[] = [];
          const read = createFrameReader(
            ({ type, bytes }) => void seen.push({ type, bytes: Buffer.from(bytes) }),
          );
          for (let at = 0, turn = 0; at < all.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            read(all.subarray(at, at + size));
            at += size;
          }
          expect(seen).toEqual(frames.map(({ type, bytes }) => ({ type, bytes: Buffer.from(bytes) })));
        },
      ),
    );
  });
});

describe('state files', () => {
  test('of one that runs, that has ended, that could not be started', () => {
    const running = 'pid 12\nstart 345\nstarted 1795210923294516182\n';
    const process = { pid: 12, start: 345n };
    const startedAt = 1795210923294516182n;
    expect(parseState(running)).toEqual({ process, startedAt });
    expect(parseState(`${running}exit 137\nsignal 9\nfinished 1795210923294516183\n`)).toEqual({
      ...{ process, startedAt },
      end: { code: 137, signal: 9, finishedAt: 1795210923294516183n },
    });
    expect(
      parseState('pid 0\nstart 0\nstarted 0\nexit 128\nfinished 5\nerror mount /a b: no\n')?.end,
    ).toEqual({
      ...{ code: 128, signal: 0, finishedAt: 5n, error: 'mount /a b: no' },
    });
  });

  test('anything else is none', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const state = parseState(text);
        if (!/^pid( |$)/m.test(text)) expect(state).toBeUndefined();
      }),
    );
  });
});

describe('records', () => {
  test('are read as they were written', () => {
    const sandbox = {
      ...{ id: 'a', runtimeHandler: '', createdAt: 2n ** 60n, bootId: 'b', netns: '/n', shm: '/s' },
      config: PodSandboxConfig.fromPartial({
        metadata: { name: 'n', namespace: 's', uid: 'u', attempt: 3 },
        labels: { a: 'b' },
        linux: { securityContext: { runAsUser: { value: 2n ** 40n } } },
      }),
    };
    expect(parseSandbox(formatSandbox(sandbox))).toEqual(sandbox);
    const { netns: _netns, shm: _shm, ...onHost } = sandbox;
    expect(parseSandbox(formatSandbox(onHost))).toEqual(onHost);
    const config = ContainerConfig.fromPartial({ metadata: { name: 'c' }, command: ['x', ''] });
    const container = { id: 'c', sandboxId: 'a', createdAt: 5n, root: '/', imageRef: 'host', config };
    expect(parseContainer(formatContainer(container))).toEqual(container);
  });

  test('those of another version are refused', () => {
    expect(() => parseSandbox('{"version":2}')).toThrow(/version 2/);
  });
});

describe('shared work', () => {
  const deferred = () => {
    let resolve: (value: string) => void = () => undefined;
    const promise = new Promise<string>((settle) => (resolve = settle));
    return { promise, resolve };
  };

  test('is done once for all who want it at the same time, and again afterwards', async () => {
    const shared = new Singleflight<string>();
    const { promise, resolve } = deferred();
    let begun = 0;
    const work = (): Promise<string> => {
      begun += 1;
      return promise;
    };
    const all = [shared.join('a', undefined, work), shared.join('a', undefined, work)];
    resolve('done');
    expect(await Promise.all(all)).toEqual(['done', 'done']);
    expect(begun).toBe(1);
    await shared.join('a', undefined, work);
    expect(begun).toBe(2);
  });

  test('is told to end when the last of its callers has gone', async () => {
    const shared = new Singleflight<string>();
    const [one, two] = [new AbortController(), new AbortController()];
    let inner: AbortSignal | undefined;
    const work = (signal: AbortSignal): Promise<string> => {
      inner = signal;
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('taken back'))),
      );
    };
    const first = shared.join('a', one.signal, work);
    const second = shared.join('a', two.signal, work);
    one.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect(inner?.aborted).toBe(false);
    two.abort();
    await expect(second).rejects.toThrow('taken back');
  });

  test('starts again for a caller that comes during the rollback, when that is over', async () => {
    const shared = new Singleflight<string>();
    const impatient = new AbortController();
    const { promise: takenBack, resolve } = deferred();
    const trail: string[] = [];
    const first = shared.join('a', impatient.signal, async () => {
      trail.push('first');
      throw new Error(await takenBack);
    });
    impatient.abort();
    const late = ['second', 'third'].map((name) =>
      shared.join('a', undefined, () => Promise.resolve(void trail.push(name)).then(() => name)),
    );
    expect(trail).toEqual(['first']);
    resolve('taken back');
    await expect(first).rejects.toThrow('taken back');
    expect(await Promise.all(late)).toEqual(['second', 'second']);
    expect(trail).toEqual(['first', 'second']);
    await shared.idle();
  });

  test('a caller without a signal never goes', async () => {
    const shared = new Singleflight<string>();
    const { promise, resolve } = deferred();
    const leaves = new AbortController();
    let inner: AbortSignal | undefined;
    const stays = shared.join('a', undefined, (signal) => {
      inner = signal;
      return promise;
    });
    const gone = shared.join('a', leaves.signal, () => promise);
    leaves.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    expect(inner?.aborted).toBe(false);
    resolve('done');
    expect(await stays).toBe('done');
  });
});

describe('statistics', () => {
  test('a program’s name may look like fields', () => {
    const fields = Array.from({ length: 50 }, (_, index) => String(index + 3));
    fields[0] = 'S';
    const use = parseStat(`12 (a) R 1 (b) ${fields.join(' ')}`);
    expect(use).toEqual({
      ticks: 14n + 15n + 16n + 17n,
      pages: 24n,
      faults: 10n,
      majorFaults: 12n,
      processes: 1n,
    });
  });
});
