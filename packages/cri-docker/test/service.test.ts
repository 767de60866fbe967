/** The service over an engine that answers as the tests say. */
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ExecRequest, PodSandboxConfig } from '@podwire/cri';
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
const ownLabels = (): object => ({ ...sandboxLabels, 'io.podwire.sandbox.root': root });

const inspected = (id: string, labels: object): object => ({
  Id: id,
  Name: '/k8s_POD_web_default_u_0',
  Created: '2026-11-20T21:32:21.623841972Z',
  State: { Status: 'running', Running: true, Pid: process.pid, ExitCode: 0, Error: '' },
  Config: { Labels: labels, Image: 'i' },
  HostConfig: { NetworkMode: 'host', IpcMode: 'host' },
});

const listed = (labels: object, Created = 1): object[] =>
  ['a', 'b'].map((digit) => ({
    Id: idOf(digit),
    Names: [`/k8s_POD_${digit}_default_u_0`],
    ...{ Created, State: 'running', Labels: labels },
  }));

describe('statistics of all sandboxes', () => {
  const answerList = (response: http.ServerResponse, request: http.IncomingMessage): void => {
    const isOfSandboxes = decodeURIComponent(request.url ?? '').includes('=podsandbox');
    json(200, isOfSandboxes ? listed(ownLabels()) : [])(response, request);
  };

  test('leave out one that goes meanwhile, and ask for the containers of each only', async () => {
    let isGone = false;
    await open({
      'GET /containers/json': answerList,
      [`GET /containers/${idOf('a')}/json`]: json(200, inspected(idOf('a'), ownLabels())),
      [`GET /containers/${idOf('a')}/stats`]: json(200, {}),
      [`GET /containers/${idOf('b')}/json`]: (response, request) => {
        const answer = isGone ? json(404, { message: 'No such container' }) : undefined;
        (answer ?? json(200, inspected(idOf('b'), ownLabels())))(response, request);
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

describe('sandboxes that dockershim made', () => {
  const id = idOf('d');
  const foreign = {
    Id: id,
    Names: ['/k8s_POD_web_default_u_0'],
    Created: 1,
    State: 'running',
    Labels: sandboxLabels,
  };
  const bridged = (): object => ({
    ...inspected(id, sandboxLabels),
    HostConfig: {
      NetworkMode: 'none',
      IpcMode: 'shareable',
      PortBindings: { '80/tcp': [{ HostPort: '8080', HostIp: '' }] },
    },
  });
  const answers = () => ({
    'GET /containers/json': json(200, [foreign]),
    [`GET /containers/${id}/json`]: json(200, bridged()),
  });
  const changes = (): string[] => called(/^(POST|DELETE)/);

  test('are left alone at the start, not listed, and not reached by their ids', async () => {
    const network = createFakePodNetwork();
    await open(answers(), { network });
    expect((await service.listPodSandbox({})).items).toEqual([]);
    await expect(service.podSandboxStatus({ podSandboxId: id, verbose: false })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await service.stopPodSandbox({ podSandboxId: id });
    await service.removePodSandbox({ podSandboxId: id });
    expect(changes()).toEqual([]);
    expect(network.calls.map(({ verb }) => verb)).toEqual(['collectGarbage']);
  });

  test('keep their addresses when garbage is collected', async () => {
    const network = createFakePodNetwork();
    let kept: readonly string[] = [];
    await open(answers(), {
      network: { ...network, collectGarbage: (live) => Promise.resolve(void (kept = live)) },
    });
    expect(kept).toEqual([id]);
  });

  test('stay when a pod of theirs is asked for here', async () => {
    await open(
      {
        ...answers(),
        'GET /info': json(200, { CgroupDriver: 'cgroupfs' }),
        'GET /images/pause%3A1/json': json(200, { Id: 'i' }),
        'POST /containers/create': json(409, {
          message: `Conflict. The container name "/k8s_POD_web_default_u_0" is already in use by container "${id}".`,
        }),
      },
      { sandboxImage: 'pause:1' },
    );
    const metadata = { name: 'web', namespace: 'default', uid: 'u', attempt: 0 };
    const config = PodSandboxConfig.fromPartial({ metadata });
    await expect(service.runPodSandbox({ config, runtimeHandler: '' })).rejects.toThrow('--take-over');
    expect(changes().filter((call) => !call.includes('/containers/create'))).toEqual([]);
  });

  test('are taken over where that is asked for, and are this service’s from then on', async () => {
    const asked: string[] = [];
    const hostNetwork = inspected(id, sandboxLabels);
    await open(
      { ...answers(), [`GET /containers/${id}/json`]: json(200, hostNetwork) },
      {
        takeOver: (each) => Promise.resolve(asked.push(each) > 0),
      },
    );
    const listedIds = async (): Promise<string[]> =>
      (await service.listPodSandbox({})).items.map((item) => item.id);
    expect(await listedIds()).toEqual([id]);
    expect(changes()).toEqual([]);
    await service.close();
    service = await createSandboxService({
      docker: engine.socket,
      root,
      network: createFakePodNetwork(),
      leastOomScoreAdj: 0,
    });
    expect(await listedIds()).toEqual([id]);
    expect(changes()).toEqual([]);
    expect(asked).toEqual([]);
  });
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
  let isUp = false;
  await open({
    // None is there when the service starts.
    'GET /containers/json': (response, request) =>
      json(200, isUp ? listed(ownLabels(), 7) : [])(response, request),
    [`GET /containers/${idOf('a')}/json`]: json(500, { message: 'RWLayer is unexpectedly nil' }),
    [`GET /containers/${idOf('b')}/json`]: json(200, inspected(idOf('b'), ownLabels())),
  });
  isUp = true;
  const { items } = await service.listPodSandbox({});
  expect(items.map(({ metadata, createdAt }) => [metadata?.name, createdAt])).toEqual([
    ['a', 7_000_000_000n],
    ['b', 1_795_210_341_623_841_972n],
  ]);
});

test('concurrent disk usage calls share one answer: Docker refuses a second one', async () => {
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
