/** The service over an engine that answers as the tests say. */
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ExecRequest } from '@podwire/cri';
import { createFakePodNetwork } from '@podwire/pod-network/fake';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandboxService, type SandboxService, type SandboxServiceOptions } from '../src/index.js';
import { type FakeEngine, type FakeOptions, json, startFakeEngine } from './support/fake-engine.js';

let root: string;
let engine: FakeEngine;
let service: SandboxService;

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'pws-'));
});
afterEach(async () => {
  await service.close();
  await engine.close();
  fs.rmSync(root, { recursive: true });
});

async function open(
  answers: FakeOptions['answers'],
  options: Partial<SandboxServiceOptions> = {},
): Promise<void> {
  engine = await startFakeEngine({ answers: { 'GET /containers/json': json(200, []), ...answers } });
  service = await createSandboxService({
    docker: engine.socket,
    root,
    network: createFakePodNetwork(),
    netnsDirectory: path.join(root, 'netns'),
    leastOomScoreAdj: 0,
    ...options,
  });
}

const idOf = (digit: string): string => digit.repeat(64);
const called = (pattern: RegExp): string[] =>
  engine.seen.map(({ call }) => decodeURIComponent(call)).filter((call) => pattern.test(call));

const sandboxLabels = { 'io.kubernetes.docker.type': 'podsandbox' };

const inspected = (id: string, labels: object): object => ({
  Id: id,
  Name: '/k8s_POD_web_default_u_0',
  Created: '2026-11-20T21:32:21.623841972Z',
  State: { Status: 'running', Running: true, Pid: process.pid, ExitCode: 0, Error: '' },
  Config: { Labels: labels, Image: 'i' },
  HostConfig: { NetworkMode: 'host', IpcMode: 'host' },
});

describe('statistics of all sandboxes', () => {
  const listed = ['a', 'b'].map((digit) => ({
    Id: idOf(digit),
    Names: [`/k8s_POD_${digit}_default_u_0`],
    ...{ Created: 1, State: 'running', Labels: sandboxLabels },
  }));
  const answerList = (response: http.ServerResponse, request: http.IncomingMessage): void =>
    json(200, decodeURIComponent(request.url ?? '').includes('=podsandbox') ? listed : [])(response, request);

  test('leave out one that goes meanwhile, and ask for the containers of each only', async () => {
    let isGone = false;
    await open({
      'GET /containers/json': answerList,
      [`GET /containers/${idOf('a')}/json`]: json(200, inspected(idOf('a'), sandboxLabels)),
      [`GET /containers/${idOf('a')}/stats`]: json(200, {}),
      [`GET /containers/${idOf('b')}/json`]: (response, request) => {
        const answer = isGone ? json(404, { message: 'No such container' }) : undefined;
        (answer ?? json(200, inspected(idOf('b'), sandboxLabels)))(response, request);
      },
    });
    await service.listPodSandbox({});
    isGone = true;
    const { stats } = await service.listPodSandboxStats({});
    expect(stats.map(({ attributes }) => attributes?.id)).toEqual([idOf('a')]);
    expect(called(/containers\/json.*sandbox\.id=a{64}/)).toHaveLength(1);
  });
});

test('a container that is no sandbox is neither stopped nor removed as one, also by its whole id', async () => {
  const id = idOf('c');
  await open({ [`GET /containers/${id}/json`]: json(200, inspected(id, {})) });
  await service.stopPodSandbox({ podSandboxId: id });
  await service.removePodSandbox({ podSandboxId: id });
  expect(called(/stop|DELETE/)).toEqual([]);
});

test('a streaming server that could not start is started by the next call', async () => {
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as net.AddressInfo;
  await open({}, { streaming: { port } });
  const request = ExecRequest.fromPartial({ containerId: 'c', cmd: ['true'], stdout: true });
  await expect(service.exec(request)).rejects.toThrow('EADDRINUSE');
  await new Promise((resolve) => other.close(resolve));
  expect((await service.exec(request)).url).toContain(`:${port}/exec/`);
});

test('events that break off say that the engine is away', async () => {
  await open({
    'GET /events': (response) => {
      response.writeHead(200);
      response.write('{"Type":', () => response.destroy());
    },
  });
  const events = service.getContainerEvents({})[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ name: 'CriError', code: 'UNAVAILABLE' });
});

test('one container that the engine cannot describe does not hide the others', async () => {
  const listed = ['a', 'b'].map((digit) => ({
    Id: idOf(digit),
    Names: [`/k8s_POD_${digit}_default_u_0`],
    ...{ Created: 7, State: 'running', Labels: sandboxLabels },
  }));
  let isUp = false;
  await open({
    // None is there when the service starts.
    'GET /containers/json': (response, request) => json(200, isUp ? listed : [])(response, request),
    [`GET /containers/${idOf('a')}/json`]: json(500, { message: 'RWLayer is unexpectedly nil' }),
    [`GET /containers/${idOf('b')}/json`]: json(200, inspected(idOf('b'), sandboxLabels)),
  });
  isUp = true;
  const { items } = await service.listPodSandbox({});
  expect(items.map(({ metadata, createdAt }) => [metadata?.name, createdAt])).toEqual([
    ['a', 7_000_000_000n],
    ['b', 1_795_210_341_623_841_972n],
  ]);
});

test('who asks for the disk while somebody else does gets the same answer: Docker refuses a second look', async () => {
  let looking = 0;
  await open({
    'GET /info': json(200, { DockerRootDir: '/docker' }),
    'GET /system/df': (response, request) => {
      looking += 1;
      const answer = looking > 1 ? json(500, { message: 'already running' }) : json(200, { LayersSize: 42 });
      setTimeout(() => {
        looking -= 1;
        answer(response, request);
      }, 50);
    },
  });
  const usedBytes = async (): Promise<bigint | undefined> =>
    (await service.imageFsInfo({})).imageFilesystems[0]?.usedBytes?.value;
  expect(await Promise.all([usedBytes(), usedBytes()])).toEqual([42n, 42n]);
  expect(await usedBytes()).toBe(42n);
  expect(called(/system\/df/)).toHaveLength(2);
});
