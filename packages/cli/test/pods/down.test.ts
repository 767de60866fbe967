/** `podwire down`, with a pod agent that answers what it is told. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { isAlive, markProcess } from '@podwire/linux';
import type { PodView } from '@podwire/podlet';
import { afterEach, describe, expect, test } from 'vitest';
import { saveSources } from '../../src/pod-agent/source-file.js';
import { placesIn } from '../../src/pods/locate.js';
import { noteStarted } from '../../src/pods/started.js';
import { type FakeAgent, type Run, run, startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { podView } from './views.js';

let agent: FakeAgent | undefined;
afterEach(async () => {
  await agent?.close();
  agent = undefined;
});

interface Said {
  /** Places that are dropped by the call, and that stay. */
  readonly changed?: readonly string[];
  readonly files?: readonly string[];
  /** Pods that run before. */
  readonly before?: readonly PodView[];
  /** Events of the watch before it ends. */
  readonly watch: readonly object[];
}

async function down(
  argv: readonly string[],
  { changed = [], files = [], before = [], watch }: Said,
): Promise<Run> {
  const directory = makeTemporaryDirectory();
  agent = await startFakeAgent({
    'GET /v1/pods': { body: { pods: before, problems: [] } },
    'POST /v1/pods/remove': { body: { dropped: '/pods/single.yaml' } },
    'GET /v1/sources': { body: { files: [...changed, ...files], urls: [] } },
    'DELETE /v1/sources': { body: { changed, files, urls: [] } },
    'GET /v1/watch': { body: watch.map((line) => `${JSON.stringify(line)}\n`).join('') },
  });
  fs.symlinkSync(agent.socket, path.join(directory, 'podlet.sock'));
  return run(['down', ...argv, '--directory', directory]);
}

const all = (...pods: readonly PodView[]): object => ({ kind: 'all', pods, problems: [] });
const leaving = podView('slow', { stage: 'terminating' });

test('waits for pods that an earlier call has not seen end', async () => {
  const again = await down([], { watch: [all(leaving)] });
  expect(again).toMatchObject({ code: 4, stdout: 'still there: shop/slow\n' });
  const named = await down(['/pods/slow.yaml'], {
    ...{ files: ['/pods/a.yaml'], before: [leaving], watch: [all(leaving)] },
  });
  expect(named).toMatchObject({ code: 4, stdout: 'still there: shop/slow\n' });
});

test('with the last place, waits for all that manifests were the cause of', async () => {
  const last = await down(['/pods/a.yaml'], { changed: ['/pods/a.yaml'], watch: [all(leaving)] });
  expect(last).toMatchObject({ code: 4, stdout: 'still there: shop/slow\n' });
});

test('pods of other places, and of an API server, are nothing to it', async () => {
  const others = [podView('b'), podView('c', { source: 'api', origin: undefined as never })];
  const some = await down(['/pods/a.yaml'], {
    changed: ['/pods/a.yaml'],
    files: ['/pods/b.yaml'],
    watch: [all(...others)],
  });
  expect(some).toMatchObject({ code: 0, stdout: 'no pod of it was left\nstill running: shop/b shop/c\n' });
  const rest = await down([], { changed: ['/pods/b.yaml'], before: others, watch: [all(others[1]!)] });
  expect(rest).toMatchObject({ code: 0, stdout: 'ended: shop/b\nstill running: shop/c\n' });
  const nothing = await down([], { changed: ['/pods/b.yaml'], before: [others[0]!], watch: [all()] });
  expect(nothing).toMatchObject({ code: 0, stdout: 'all gone\n' });
});

test.each(['web', 'pod/web', 'shop/web', 'pod/shop/web'])(
  '%s is a pod, which is removed by its name',
  async (word) => {
    const [web, api] = [podView('web'), podView('api')];
    const said = { files: ['/pods/two.yaml'], before: [web, api], watch: [all(api)] };
    const { code, stdout, stderr } = await down([word], said);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ended: shop/web\nstill running: shop/api\n' });
    expect(stderr).toMatch(/^✓ pods ended/);
    expect(agent?.asked).toContain('POST /v1/pods/remove {"namespace":"shop","name":"web"}');
  },
);

test('a word that is neither a pod nor a manifest is an error with a guess, and nothing is done', async () => {
  const { code, stdout, stderr } = await down(['wbe'], { before: [podView('web')], watch: [] });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('wbe is neither a pod nor a manifest; did you mean web?');
  expect(agent?.asked.filter((each) => !each.startsWith('GET'))).toEqual([]);
});

test('no tick while a pod is still ending', async () => {
  const { code, stdout, stderr } = await down([], { before: [podView('a'), leaving], watch: [all(leaving)] });
  expect({ code, stdout }).toEqual({ code: 4, stdout: 'ended: shop/a\nstill there: shop/slow\n' });
  expect(stderr).toMatch(/^… still ending: shop\/slow/);
  expect(stderr).not.toContain('✓');
});

test('what was not heard of is not gone', async () => {
  const { code, stderr } = await down(['/pods/a.yaml'], { changed: ['/pods/a.yaml'], watch: [] });
  expect(code).toBe(1);
  expect(stderr).toContain('the pod agent did not say which pods there are');
});

test.each(['abc', '0', '-1', '1e9', 'Infinity'])('--timeout %s is no number of seconds', async (seconds) => {
  const { code, stdout, stderr } = await down([`--timeout=${seconds}`], { watch: [] });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('a number of seconds, up to a day');
  expect(agent?.asked).toEqual([]);
});

describe('with a node agent that has lost its pod agent', () => {
  let node: ChildProcess | undefined;
  afterEach(() => node?.kill('SIGKILL'));

  async function downAlone(endpoints: readonly object[], files: readonly string[] = []) {
    const directory = makeTemporaryDirectory();
    const places = placesIn(directory);
    agent = await startFakeAgent({ 'GET /v1/endpoints': { body: { endpoints } } });
    fs.symlinkSync(agent.socket, places.agentApi);
    fs.mkdirSync(places.podletState);
    saveSources(places, { files, urls: [] });
    node = spawn('sleep', ['1000'], { stdio: 'ignore' });
    const mark = markProcess('agent', node.pid!);
    // Another's network: otherwise root's call would put back the machine's own.
    noteStarted(places, 'agent', mark.pid, 'net:[1]');
    return { ...(await run(['down', '--directory', directory])), goesOn: isAlive(mark) };
  }

  test('ends it when there are neither pods nor manifests', async () => {
    expect(await downAlone([])).toMatchObject({ code: 0, stdout: 'all gone\n', goesOn: false });
  });

  test.each([
    [[{}], []],
    [[], ['/pods/host-network.yaml']],
  ])('leaves it to pods that may still run: endpoints %j, manifests %j', async (endpoints, files) => {
    const { code, stderr, goesOn } = await downAlone(endpoints, files);
    expect({ code, goesOn }).toEqual({ code: 3, goesOn: true });
    expect(stderr).toMatch(
      /no pod agent answers at .*; pods may still run, so the node agent is not ended\n/,
    );
    expect(stderr).toContain('podwire up');
  });
});
