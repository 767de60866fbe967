/** `podwire up`, with a pod agent that answers what it is told. */
import fs from 'node:fs';
import path from 'node:path';
import type { PodView, SourceProblem } from '@podwire/podlet';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FakeAgent, type Run, run, startFakeAgent } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { podView } from './views.js';

let agent: FakeAgent | undefined;
const { existsSync } = fs;
beforeEach(() => {
  vi.spyOn(fs, 'existsSync').mockImplementation(
    (file) => String(file).startsWith('/pods') || existsSync(file),
  );
});
afterEach(async () => {
  vi.restoreAllMocks();
  await agent?.close();
  agent = undefined;
});

interface Said {
  /** Places that an earlier call was given. */
  readonly others?: readonly string[];
  readonly pods?: readonly PodView[];
  readonly problems?: readonly SourceProblem[];
  /** Of the node agent. */
  readonly endpoints?: readonly object[];
}

async function up(
  argv: readonly string[],
  { others = [], pods = [], problems = [], endpoints = [] }: Said,
): Promise<Run> {
  const directory = makeTemporaryDirectory();
  const files = [...others, ...argv.filter((word) => word.startsWith('/'))];
  agent = await startFakeAgent({
    'GET /v1/status': { body: {} },
    'POST /v1/sources': { body: { changed: [], files, urls: [] } },
    'GET /v1/pods': { body: { pods, problems } },
    'GET /v1/endpoints': { body: { endpoints } },
    'GET /v1/watch': { body: `${JSON.stringify({ kind: 'all', pods, problems })}\n` },
  });
  for (const name of ['podlet.sock', 'api.sock']) fs.symlinkSync(agent.socket, path.join(directory, name));
  return run(['up', ...argv, '--directory', directory]);
}

const problem = (origin: string): SourceProblem => ({ source: 'file', origin, message: 'is no good' });
const unready = podView('new', {}, { phase: 'Pending', conditions: [] });

test('what is wrong in places of an earlier call does not count', async () => {
  const said = { others: ['/pods/other.yaml'], pods: [podView('web')] };
  const good = await up(['/pods/web.yaml'], { ...said, problems: [problem('/pods/other.yaml')] });
  expect(good).toMatchObject({ code: 0, stderr: expect.not.stringContaining('other.yaml') as string });
  const bad = await up(['/pods/web.yaml'], { ...said, problems: [problem('/pods/web.yaml')] });
  expect(bad).toMatchObject({ code: 4, stderr: expect.stringContaining('web.yaml: is no good') as string });
  // The pod agent names a pod that is there twice, not its file.
  const twin = await up(['/pods/web.yaml'], { ...said, problems: [problem('shop/web')] });
  expect(twin).toMatchObject({ code: 4, stderr: expect.stringContaining('shop/web: is no good') as string });
});

test('a place within another one tells what is wrong with it', async () => {
  const said = { others: ['/pods'], problems: [problem('/pods/web.yaml')] };
  expect(await up(['/pods/web.yaml'], said)).toMatchObject({ code: 4 });
});

test('without waiting, a pod that is not ready yet is nothing wrong, and pods of others are not shown', async () => {
  const pods = [unready, podView('web', {}, { phase: 'Pending', conditions: [] })];
  const { code, stdout } = await up(['--detach', '/pods/new.yaml'], { pods });
  expect(code).toBe(0);
  expect(stdout).toContain('shop/new');
  expect(stdout).not.toContain('shop/web');
  const failed = podView('new', {}, { phase: 'Failed' });
  expect(await up(['--detach', '/pods/new.yaml'], { pods: [failed] })).toMatchObject({ code: 4 });
});

test('what the node agent warns of is said of pods that are asked for, and fails nothing', async () => {
  const pods = [podView('web')];
  const attached = (name: string, warning: string) => ({
    pod: { namespace: pods[0]!.namespace, name },
    containerId: name,
    warnings: [warning],
  });
  const endpoints = [attached('web', 'host port 80/tcp hides'), attached('other', 'not this')];
  const { code, stderr } = await up(['/pods/web.yaml'], { pods, endpoints });
  expect({ code, warned: stderr.includes('not this') }).toEqual({ code: 0, warned: false });
  expect(stderr).toMatch(/^warning: pod\/\S+\/web: host port 80\/tcp hides$/m);
  const { stdout } = await up(['/pods/web.yaml', '-o', 'json'], { pods, endpoints });
  expect(JSON.parse(stdout)).toMatchObject({ warnings: [expect.stringContaining('hides') as string] });
});
