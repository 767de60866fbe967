import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import zlib from 'node:zlib';
import { CriError } from '@podwire/cri';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createContainerLogs, type LogOwner, type RotationPolicy } from '../../src/logs/index.js';

interface Fixture {
  readonly file: string;
  readonly owner: LogOwner;
  readonly links: string;
  readonly reopened: string[];
  readonly warnings: string[];
  /** Ten seconds later each time. */
  readonly rotate: () => Promise<void>;
  readonly logs: ReturnType<typeof createContainerLogs>;
  readonly files: () => string[];
}

const start = Date.UTC(2026, 10, 22, 20, 4, 36);

function createFixture(policy: RotationPolicy = { maxBytes: 100 }, reopen?: (file: string) => void): Fixture {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podlet-logs-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const [logs, links] = [path.join(directory, 'pods'), path.join(directory, 'containers')];
  const file = path.join(logs, 'shop_web_1', 'main', '0.log');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const owner = {
    namespace: 'shop',
    podName: 'web',
    containerName: 'main',
    containerId: 'c1',
    logPath: file,
  };
  const [reopened, warnings]: string[][] = [[], []];
  let now = start;
  const containerLogs = createContainerLogs({
    rotation: policy,
    directories: { logs, logLinks: links },
    clock: { now: () => now },
    log: {
      ...{ debug: () => undefined, info: () => undefined, error: () => undefined },
      warn: (fields, message) => void warnings!.push(`${message}: ${inspect(fields)}`),
    },
    runtime: {
      reopenContainerLog: ({ containerId }) => {
        reopened!.push(containerId);
        (reopen ?? ((name) => fs.writeFileSync(name, '')))(file);
        return Promise.resolve({});
      },
    },
  });
  return {
    ...{ file, owner, links, reopened: reopened!, warnings: warnings!, logs: containerLogs },
    rotate: async () => {
      await containerLogs.rotate([owner], new AbortController().signal);
      now += 10_000;
    },
    files: () => fs.readdirSync(path.dirname(file)).sort(),
  };
}

const filled = (letter: string): string => letter.repeat(100);

describe('a log', () => {
  test('of the size is moved away under the kubelet’s name, and reopened', async () => {
    const { file, rotate, files, reopened } = createFixture();
    fs.writeFileSync(file, filled('a').slice(1));
    await rotate();
    expect([files(), reopened]).toEqual([['0.log'], []]);
    fs.writeFileSync(file, filled('a'));
    await rotate();
    expect(files()).toEqual(['0.log', '0.log.20261122-200446']);
    expect(reopened).toEqual(['c1']);
  });

  test('has so many files, the older ones compressed', async () => {
    const { file, rotate, files } = createFixture({ maxBytes: 100, maxFiles: 3 });
    for (const letter of ['a', 'b', 'c', 'd']) {
      fs.writeFileSync(file, filled(letter));
      await rotate();
    }
    expect(files()).toEqual(['0.log', '0.log.20261122-200456.gz', '0.log.20261122-200506']);
    const packed = fs.readFileSync(`${file}.20261122-200456.gz`);
    expect(zlib.gunzipSync(packed).toString()).toBe(filled('c'));
  });

  test('is five files of 10 MiB where nothing else is said', async () => {
    const { file, rotate, files } = createFixture({});
    fs.writeFileSync(file, '');
    fs.truncateSync(file, (10 << 20) - 1);
    await rotate();
    expect(files()).toEqual(['0.log']);
    for (let time = 0; time < 7; time += 1) {
      fs.truncateSync(file, 10 << 20);
      await rotate();
    }
    expect(files()).toHaveLength(5);
  });

  test('is never rotated where its size is 0', async () => {
    const { file, rotate, files } = createFixture({ maxBytes: 0 });
    fs.writeFileSync(file, filled('a'));
    await rotate();
    expect(files()).toEqual(['0.log']);
  });

  test('has its name back when the runtime does not reopen it', async () => {
    const { file, rotate, files, warnings } = createFixture({ maxBytes: 100 }, () => {
      throw new CriError('FAILED_PRECONDITION', 'it does not run');
    });
    fs.writeFileSync(file, filled('a'));
    await rotate();
    expect(files()).toEqual(['0.log']);
    expect(fs.readFileSync(file, 'utf8')).toBe(filled('a'));
    expect(warnings).toEqual([expect.stringContaining('it does not run')]);
  });

  test('that was reopened by a call that failed all the same is not overwritten', async () => {
    const { file, rotate, files } = createFixture({ maxBytes: 100 }, (name) => {
      fs.writeFileSync(name, 'new');
      throw new CriError('DEADLINE_EXCEEDED', 'late');
    });
    fs.writeFileSync(file, filled('a'));
    await rotate();
    expect(files()).toEqual(['0.log', '0.log.20261122-200436']);
    expect(fs.readFileSync(file, 'utf8')).toBe('new');
  });

  test('whose agent was killed between rename and reopening is reopened', async () => {
    const { file, rotate, files, reopened } = createFixture();
    fs.writeFileSync(`${file}.20261122-200426`, filled('a'));
    await rotate();
    expect([files(), reopened]).toEqual([['0.log', '0.log.20261122-200426'], ['c1']]);
  });

  test('whose compression was interrupted is compressed again', async () => {
    const { file, rotate, files } = createFixture();
    fs.writeFileSync(`${file}.20261122-200416`, filled('a'));
    fs.writeFileSync(`${file}.20261122-200416.tmp`, 'half');
    fs.writeFileSync(`${file}.20261122-200416.gz`, 'whole, and the plain one not yet removed');
    fs.writeFileSync(file, filled('b'));
    await rotate();
    expect(files()).toEqual(['0.log', '0.log.20261122-200416.gz', '0.log.20261122-200436']);
    expect(zlib.gunzipSync(fs.readFileSync(`${file}.20261122-200416.gz`)).toString()).toBe(filled('a'));
  });

  test('that is a link, or lies elsewhere, is left alone', async () => {
    const { file, rotate, files, logs, owner, reopened } = createFixture();
    const other = `${path.dirname(path.dirname(path.dirname(path.dirname(file))))}/docker.log`;
    fs.writeFileSync(other, filled('a'));
    fs.symlinkSync(other, file);
    await rotate();
    await logs.rotate([{ ...owner, logPath: other }], new AbortController().signal);
    await logs.removed({ ...owner, logPath: other });
    expect([files(), reopened, fs.existsSync(other)]).toEqual([['0.log'], [], true]);
  });

  test('goes with its container, with all that was moved away', async () => {
    const { file, rotate, files, logs, owner } = createFixture();
    for (const letter of ['a', 'b', 'c']) {
      fs.writeFileSync(file, filled(letter));
      await rotate();
    }
    fs.writeFileSync(path.join(path.dirname(file), '1.log'), 'of the next one');
    await logs.removed(owner);
    expect(files()).toEqual(['1.log']);
  });
});

describe('links', () => {
  const name = 'web_shop_main-c1.log';

  test('are made with the kubelet’s name and go with the container', async () => {
    const { file, links, logs, owner } = createFixture();
    fs.writeFileSync(file, filled('a'));
    await logs.started(owner);
    await logs.started(owner);
    expect(fs.readlinkSync(path.join(links, name))).toBe(file);
    await logs.removed(owner);
    expect(fs.readdirSync(links)).toEqual([]);
  });

  test('are never longer than a name may be', async () => {
    const { file, links, logs, owner } = createFixture();
    fs.writeFileSync(file, filled('a'));
    await logs.started({ ...owner, podName: 'p'.repeat(253) });
    expect(fs.readdirSync(links)[0]).toHaveLength(255);
  });

  test('that are dead are removed, others and those of running containers are not', async () => {
    const { file, links, logs, owner } = createFixture();
    fs.writeFileSync(file, filled('a'));
    fs.mkdirSync(links);
    const pods = path.dirname(path.dirname(path.dirname(file)));
    const targets: Record<string, string> = {
      'dead_shop_main-c0.log': `${pods}/gone/main/0.log`,
      'rotating_shop_main-c2.log': `${pods}/gone/main/1.log`,
      'foreign_shop_main-c3.log': '/nonexistent/0.log',
      'live_shop_main-c4.log': file,
    };
    for (const [link, target] of Object.entries(targets)) fs.symlinkSync(target, path.join(links, link));
    fs.writeFileSync(path.join(links, 'notes.log'), '');
    const rotating = { ...owner, podName: 'rotating', containerId: 'c2', logPath: `${pods}/gone/main/1.log` };
    await logs.repairLinks([owner, rotating]);
    expect(fs.readdirSync(links).sort()).toEqual(
      [
        'foreign_shop_main-c3.log',
        'live_shop_main-c4.log',
        'notes.log',
        'rotating_shop_main-c2.log',
        name,
      ].sort(),
    );
  });
});
