/** The socket of Kube-OVN's plugin, and the network configuration by which runtimes learn that the node serves it. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type CniRequest, errorResponse, readCniResponse, renderCniRequest } from '@podwire/kube-ovn-cni';
import { silentLog } from '@podwire/platform';
import http from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../src/log.js';
import { type KubeOvnCniOptions, openKubeOvnCni } from '../src/server/kube-ovn-cni.js';

const list = '01-kube-ovn.conflist';

function createPlaces() {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-kube-ovn-'));
  onTestFinished(() => fs.rmSync(top, { recursive: true }));
  const at = (name: string): string => path.join(top, name);
  fs.mkdirSync(at('state'));
  return { socket: at('run/daemon.sock'), networkConfigDir: at('net.d'), stateDir: at('state') };
}

type Places = ReturnType<typeof createPlaces>;

async function open(
  places: Places,
  serve: KubeOvnCniOptions['serve'] = () => Promise.resolve(),
  findUid: KubeOvnCniOptions['findUid'] = () => Promise.resolve(undefined),
) {
  const { stateDir, ...config } = places;
  let become: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (become = resolve));
  const stopped = new AbortController();
  const server = await openKubeOvnCni({
    ...{
      config,
      stateDir,
      maxConnections: 1,
      deadline: 1_000,
      serve,
      findUid,
      ready,
      signal: stopped.signal,
    },
    ...{ peerCredentials: () => ({ pid: 1, uid: process.getuid!(), gid: 0 }), log: silentLog as Log },
  });
  const stop = async (): Promise<void> => {
    stopped.abort();
    await server.stop(0);
  };
  onTestFinished(stop);
  return { become, stop };
}

const isThere = ({ networkConfigDir }: Places): boolean => fs.existsSync(path.join(networkConfigDir, list));

test('the network configuration is written when the node is ready, and stays when the agent stops', async () => {
  const places = createPlaces();
  const { become, stop } = await open(places);
  expect(isThere(places)).toBe(false);
  become();
  await expect.poll(() => isThere(places)).toBe(true);
  await stop();
  const again = await open(places);
  expect(isThere(places)).toBe(true);
  await again.stop();
});

test('the network configuration of an earlier life of the machine goes', async () => {
  const places = createPlaces();
  const { become, stop } = await open(places);
  become();
  await expect.poll(() => isThere(places)).toBe(true);
  await stop();
  fs.rmSync(places.stateDir, { recursive: true });
  fs.mkdirSync(places.stateDir);
  await open(places);
  expect(isThere(places)).toBe(false);
});

const request: CniRequest = {
  ...{ cniType: 'kube-ovn', podName: 'web', podNamespace: 'shop', containerId: 'c1', netNs: '/run/netns/a' },
  ...{ ifName: 'eth0', provider: 'ovn', routes: [], vfDriver: '', deviceId: '' },
};

function post(
  socketPath: string,
  operation: string,
  body: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { socketPath, path: `/api/v1/${operation}`, method: 'POST', agent: false };
    const call = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

const answerOf = {
  cniVersion: '1.1.0',
  interfaces: [{ name: 'eth0', mac: '00:00:00:00:00:01', sandbox: '/a', mtu: 1400 }],
};

function noteRequests() {
  const seen: (readonly [string, string])[][] = [];
  const serve: KubeOvnCniOptions['serve'] = async (received, answer) => {
    if ('request' in received) seen.push([...received.request.environment]);
    const ips = [{ address: '10.16.0.5/16', gateway: '10.16.0.1' }];
    await answer(true, JSON.stringify({ ...answerOf, ips }));
  };
  return { seen, serve };
}

test('a pod that the API server has is added with its own UID', async () => {
  const places = createPlaces();
  const { seen, serve } = noteRequests();
  await open(places, serve, (namespace, name) => Promise.resolve(`uid-of-${namespace}-${name}`));
  await post(places.socket, 'add', renderCniRequest(request));
  expect(Object.fromEntries(seen[0]!)['CNI_ARGS']).toContain('K8S_POD_UID=uid-of-shop-web');
});

test('a request becomes an ADD of the pod, whose sandbox is its UID', async () => {
  const places = createPlaces();
  const { seen, serve } = noteRequests();
  await open(places, serve);
  const { status, text } = await post(places.socket, 'add', renderCniRequest(request));
  expect(status).toBe(200);
  expect(readCniResponse(Buffer.from(text))).toMatchObject({
    ...{ protocol: 'IPv4', ipAddress: '10.16.0.5', cidr: '10.16.0.0/16', gateway: '10.16.0.1', mtu: 1400 },
  });
  expect(Object.fromEntries(seen[0]!)).toMatchObject({
    CNI_COMMAND: 'ADD',
    CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=c1',
  });
});

test('a failure of the agent is one of the node, in its words', async () => {
  const places = createPlaces();
  const words = 'POD_UNALLOCATED: no address allocated to pod shop/web yet';
  await open(places, (_, answer) =>
    answer(false, JSON.stringify({ cniVersion: '1.1.0', code: 11, msg: words })),
  );
  const { status, text } = await post(places.socket, 'add', renderCniRequest(request));
  expect([status, readCniResponse(Buffer.from(text))]).toEqual([500, errorResponse(words)]);
});

test.each([
  [{ provider: 'net1.shop' }, 'provider: net1.shop is an attachment'],
  [{ cniType: 'macvlan' }, 'cni_type: macvlan asks for addresses alone'],
  [{ routes: [{ destination: '10.0.0.0/8', gateway: '' }] }, 'routes of the network configuration'],
  [{ deviceId: '0000:03:00.0' }, 'devices on the PCI bus'],
])('what cannot be served is refused: %j', async (more, words) => {
  const places = createPlaces();
  await open(places);
  const { status, text } = await post(places.socket, 'add', renderCniRequest({ ...request, ...more }));
  expect([status, text]).toEqual([400, expect.stringContaining(words)]);
});
