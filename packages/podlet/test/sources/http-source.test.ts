import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/contract.js';
import { createHttpSource, type HttpSourceOptions } from '../../src/sources/http-source.js';
import { formatProblem } from '@podwire/pod-spec';
import { type Listener, listen, manifest, namesOf, uidsOf } from './support.js';

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

let server: http.Server;
let url = '';
let answer: Answer;
let requests: http.IncomingMessage[] = [];
let running: Listener[] = [];

beforeEach(async () => {
  requests = [];
  server = http.createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  running = [];
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const content =
  (body: string, headers: http.OutgoingHttpHeaders = {}, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

interface Sleep {
  readonly milliseconds: number;
  end(): void;
}

/** Time that goes on when the test says so. */
interface SteppedClock extends Clock {
  /** Ends the next sleep of that length, which begins perhaps only later. */
  pass(milliseconds: number): Promise<void>;
  /** Waits until there is a sleep of that length. */
  begun(milliseconds: number): Promise<void>;
}

function createSteppedClock(): SteppedClock {
  let time = 1_000_000;
  const sleeping = new Set<Sleep>();
  const watchers = new Set<() => void>();
  const find = (milliseconds: number): Promise<Sleep> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = [...sleeping].find((each) => each.milliseconds === milliseconds);
        if (found === undefined) return;
        watchers.delete(look);
        resolve(found);
      };
      watchers.add(look);
      look();
    });
  return {
    now: () => time,
    elapsed: () => time,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const entry: Sleep = { milliseconds, end: resolve };
        sleeping.add(entry);
        const refuse = (): void => {
          sleeping.delete(entry);
          reject(signal.reason as Error);
        };
        if (signal.aborted) return refuse();
        signal.addEventListener('abort', refuse, { once: true });
        for (const look of [...watchers]) look();
      }),
    begun: async (milliseconds) => void (await find(milliseconds)),
    async pass(milliseconds) {
      const found = await find(milliseconds);
      sleeping.delete(found);
      time += milliseconds;
      found.end();
    },
  };
}

function start(
  options: Partial<HttpSourceOptions> = {},
): Listener & { clock: SteppedClock; period(): Promise<void> } {
  const clock = createSteppedClock();
  const listener = listen(createHttpSource({ url, node: 'node-1', clock, ...options }));
  running.push(listener);
  /** One period later, and what was asked for then has been dealt with. */
  const period = async (): Promise<void> => {
    await clock.pass(20_000);
    await clock.begun(20_000);
  };
  return Object.defineProperties({ clock, period }, Object.getOwnPropertyDescriptors(listener)) as never;
}

const problems = (listener: Listener): string[] => listener.latest!.problems.map(formatProblem);

describe('what a server answers', () => {
  test('a pod, at once, and again every 20 seconds', async () => {
    answer = content(manifest('a'));
    const source = start();
    expect(await source.until(() => true)).toMatchObject({
      problems: [],
      pods: [{ metadata: { name: 'a' } }],
    });
    answer = content(manifest('b'));
    await source.period();
    expect((await source.until((snapshot) => namesOf(snapshot) === 'b')).causedAt).toBe(1_020_000);
    expect(requests).toHaveLength(2);
  });

  test('a PodList', async () => {
    const items = ['a', 'b'].map((name) => ({
      metadata: { name },
      spec: { containers: [{ name: 'x', image: 'y' }] },
    }));
    answer = content(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items }));
    await start().until((snapshot) => namesOf(snapshot) === 'a b');
  });

  test('a list with one bad item is refused as a whole; what was good stays', async () => {
    answer = content(manifest('a'));
    const source = start();
    const good = await source.until(() => true);
    answer = content(`${manifest('b')}---\n${manifest('C')}`);
    await source.period();
    const bad = await source.until((snapshot) => snapshot.problems.length > 0);
    expect(uidsOf(bad)).toEqual(uidsOf(good));
    expect(problems(source)).toEqual([
      expect.stringMatching(`^${url}:8:12 \\(document 2\\): metadata.name: must be`),
    ]);
  });

  test('a bad answer is told for as long as it comes, and forgotten with the next good one', async () => {
    answer = content(manifest('a'));
    const source = start();
    await source.until(() => true);
    answer = content('nonsense');
    await source.period();
    await source.until((snapshot) => snapshot.problems.length > 0);
    await source.period();
    answer = content(manifest('a'));
    await source.period();
    const corrected = await source.until((snapshot) => snapshot.problems.length === 0);
    expect(source.snapshots.map((snapshot) => snapshot.problems.length)).toEqual([0, 1, 0]);
    expect(corrected.pods).toBe(source.snapshots[0]!.pods);
  });

  test('the same again is no news', async () => {
    answer = content(manifest('a'));
    const source = start();
    await source.until(() => true);
    await source.period();
    await source.period();
    answer = content(manifest('b'));
    await source.period();
    await source.until((snapshot) => namesOf(snapshot) === 'b');
    expect(source.snapshots).toHaveLength(2);
  });

  test('nothing at all means no pods, and is told', async () => {
    answer = content('');
    const source = start();
    expect(await source.until(() => true)).toMatchObject({ pods: [] });
    expect(source.latest!.incomplete).toBeUndefined();
    expect(problems(source)).toEqual([`${url}: answered with nothing, which counts as no pods`]);
    await source.period();
    answer = content(manifest('a'));
    await source.period();
    expect((await source.until((snapshot) => namesOf(snapshot) === 'a')).problems).toEqual([]);
    expect(source.snapshots).toHaveLength(2);
  });

  test.each([404, 500, 201, 304])('status %i: nothing is known, until something is', async (status) => {
    answer = content(manifest('a'), {}, status);
    const source = start();
    expect(await source.until(() => true)).toMatchObject({ pods: [], incomplete: true });
    expect(problems(source)).toEqual([`${url}: answered with status ${status}`]);
    answer = content(manifest('a'));
    await source.period();
    expect((await source.until((snapshot) => namesOf(snapshot) === 'a')).incomplete).toBeUndefined();
    answer = content('', {}, 503);
    await source.period();
    const later = await source.until((snapshot) => snapshot.problems.length > 0);
    expect(namesOf(later)).toBe('a');
    expect(later.incomplete).toBeUndefined();
  });

  test('a server that is not there', async () => {
    const source = start({ url: 'http://127.0.0.1:1/' });
    expect(await source.until(() => true)).toMatchObject({ incomplete: true });
    expect(problems(source)).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });

  test('a server that hangs, before and within its answer', async () => {
    const hang: Answer[] = [
      () => undefined,
      (_, response) => void response.writeHead(200).write('apiVersion: v1\n'),
    ];
    for (const each of hang) {
      answer = each;
      const source = start();
      await source.clock.pass(10_000);
      await source.until((snapshot) => snapshot.incomplete === true);
      expect(problems(source)).toEqual([`${url}: no whole answer within 10 s`]);
    }
  });

  test('an answer without end is cut at 10 MiB', async () => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    let sent = 0;
    answer = (_, response) => {
      const more = (): void => {
        if (response.destroyed) return;
        sent += chunk.length;
        response.write(chunk, more);
      };
      more();
    };
    const source = start();
    await source.until((snapshot) => snapshot.incomplete === true);
    expect(problems(source)).toEqual([`${url}: the answer is larger than 10 MiB`]);
    expect(sent).toBeLessThan(40 * chunk.length);
  });

  test('bytes that are no text', async () => {
    answer = (_, response) => void response.end(Buffer.from([0x61, 0xff]));
    const source = start();
    await source.until((snapshot) => snapshot.incomplete === true);
    expect(problems(source)).toEqual([`${url}: the answer is no UTF-8 text`]);
  });

  test('redirections are followed, but not for ever', async () => {
    answer = (request, response) => {
      if (request.url === '/real') response.end(manifest('a'));
      else response.writeHead(302, { location: request.url === '/pods' ? '/real' : '/loop' }).end();
    };
    await start().until((snapshot) => namesOf(snapshot) === 'a');
    const source = start({ url: url.replace('pods', 'loop') });
    await source.until((snapshot) => snapshot.incomplete === true);
  });
});

describe('what a server is asked', () => {
  test('headers as they are given, several values too', async () => {
    answer = content(manifest('a'));
    await start({ headers: { 'X-Token': ['one', 'two'], 'Metadata-Flavor': 'Google' } }).until(() => true);
    const { rawHeaders } = requests[0]!;
    const pairs = rawHeaders.flatMap((key, index) =>
      index % 2 === 0 ? [`${key}: ${rawHeaders[index + 1]}`] : [],
    );
    expect(pairs).toEqual(
      expect.arrayContaining(['X-Token: one', 'X-Token: two', 'Metadata-Flavor: Google']),
    );
  });

  test('user and password go into a header and nowhere else', async () => {
    answer = content('nonsense');
    const source = start({ url: url.replace('//', '//me:p%40ss@') });
    await source.until(() => true);
    expect(requests[0]!.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    expect(JSON.stringify(source.snapshots)).not.toContain('p@ss');
    expect(JSON.stringify(source.snapshots)).not.toContain('p%40ss');
  });

  test('a percent sign in a password may stand for itself', async () => {
    answer = content('nonsense');
    await start({ url: url.replace('//', '//m%C3%A9:100%er@') }).until(() => true);
    expect(requests[0]!.headers.authorization).toBe(`Basic ${Buffer.from('mé:100%er').toString('base64')}`);
  });

  test('only for what is new, when it knows of tags', async () => {
    answer = (request, response) => {
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"1"' }).end(manifest('a'));
    };
    const source = start();
    await source.until(() => true);
    await source.period();
    await source.period();
    answer = content(manifest('b'), { etag: '"2"' });
    await source.period();
    await source.until((snapshot) => namesOf(snapshot) === 'b');
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', '"1"', '"1"']);
    expect(source.snapshots).toHaveLength(2);
  });

  test('the tag of a bad answer is not remembered', async () => {
    answer = content('nonsense', { etag: '"bad"' });
    const source = start();
    await source.until(() => true);
    await source.period();
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  test.each(['ftp://a/b', 'nonsense', '/etc/passwd'])('%s is refused at once', (text) => {
    expect(() => start({ url: text })).toThrow(TypeError);
  });
});

test('it ends in the middle of a request', async () => {
  const asked = new Promise<void>((resolve) => {
    answer = () => resolve();
  });
  const source = start();
  await asked;
  await source.stop();
  expect(source.snapshots).toEqual([]);
});
