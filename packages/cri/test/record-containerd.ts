/**
 * Records answers of a real containerd as bytes, for wire.test.ts: `node dist/test/record-containerd.js` as root,
 * after a build. Writes golden/containerd.json.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { ContainerConfig, PodSandboxConfig } from '@podwire/cri';
import { createPrivateHost } from '@podwire/testkit';
import { busyboxImage, type Containerd, startContainerd } from '@podwire/testkit/containerd';
import { bridgeNetwork } from './bridge-network.js';

const logDirectory = '/tmp/podwire-golden';
const target = path.resolve(import.meta.dirname, '../../test/golden/containerd.json');

const config = PodSandboxConfig.fromPartial({
  metadata: { name: 'web', namespace: 'default', uid: 'uid-1', attempt: 2 },
  hostname: 'web',
  logDirectory,
  labels: { app: 'web' },
  annotations: { 'podwire.test/note': 'naïve' },
  linux: {},
});

async function prepare({ runtime }: Containerd): Promise<{ podSandboxId: string; containerId: string }> {
  const { podSandboxId } = await runtime.runPodSandbox({ config, runtimeHandler: '' });
  const container = ContainerConfig.fromPartial({
    metadata: { name: 'main', attempt: 1 },
    image: { image: busyboxImage },
    command: ['/bin/busybox', 'sleep', '1000'],
    labels: { app: 'web' },
    logPath: 'main.log',
    mounts: [{ hostPath: '/tmp', containerPath: '/tmp/host', readonly: true }],
    linux: { resources: { cpuShares: 512n, memoryLimitInBytes: 268_435_456n } },
  });
  const { containerId } = await runtime.createContainer({
    podSandboxId,
    config: container,
    sandboxConfig: config,
  });
  await runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** The bytes that were answered, before any decoder. */
function callRaw(client: Client, rpc: string, request: Uint8Array): Promise<Buffer> {
  const same = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(`/runtime.v1.${rpc}`, same, same, Buffer.from(request), (error, answer) =>
      error === null && answer !== undefined ? resolve(answer) : reject(error ?? new Error('no answer')),
    );
  });
}

/** A string as field 1 is all that these requests need. */
const withText = (text: string): Uint8Array =>
  Buffer.concat([Buffer.from([10, text.length]), Buffer.from(text)]);

async function record(containerd: Containerd): Promise<Record<string, string>> {
  const { podSandboxId, containerId } = await prepare(containerd);
  const client = new Client(`unix:${containerd.socket}`, credentials.createInsecure());
  const answers: Record<string, string> = {};
  const calls: readonly (readonly [string, Uint8Array])[] = [
    ['RuntimeService/Version', Buffer.alloc(0)],
    ['RuntimeService/Status', Buffer.alloc(0)],
    ['RuntimeService/ListPodSandbox', Buffer.alloc(0)],
    ['RuntimeService/PodSandboxStatus', withText(podSandboxId)],
    ['RuntimeService/ListContainers', Buffer.alloc(0)],
    ['RuntimeService/ContainerStatus', withText(containerId)],
    ['RuntimeService/ContainerStats', withText(containerId)],
    ['ImageService/ListImages', Buffer.alloc(0)],
    ['ImageService/ImageFsInfo', Buffer.alloc(0)],
  ];
  for (const [rpc, request] of calls) {
    const [, name = ''] = rpc.split('/');
    answers[name] = (await callRaw(client, rpc, request)).toString('hex');
  }
  client.close();
  return answers;
}

const host = await createPrivateHost({ name: 'gold' });
try {
  const confDir = path.join(host.directory, 'net.d');
  fs.mkdirSync(confDir);
  fs.writeFileSync(path.join(confDir, '10.conflist'), JSON.stringify(bridgeNetwork(host.directory)));
  const answers = await record(await startContainerd(host, { binDir: '/usr/lib/cni', confDir }));
  fs.writeFileSync(target, `${JSON.stringify(answers, undefined, 2)}\n`);
} finally {
  fs.rmSync(logDirectory, { recursive: true, force: true });
  await host.close();
}
