/** The bytes on the wire. */
import fs from 'node:fs';
import path from 'node:path';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as cri from '../src/index.js';
import { encodeMessage, methods } from '../src/methods.js';
import * as arbitrary from './arbitraries.js';

interface Fns<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

function describeMessage<T>(name: string, codec: Fns<T>, messages: Arbitrary<T>): void {
  describe(name, () => {
    test('is read as it was written', () => {
      fc.assert(
        fc.property(messages, (message) => {
          expect(codec.decode(codec.encode(message).finish())).toEqual(message);
        }),
      );
    });

    test('is read although later versions write fields that this one does not know', () => {
      fc.assert(
        fc.property(messages, fc.uint8Array({ maxLength: 20 }), (message, content) => {
          // Field 2000 with a length: (2000 << 3) | 2 as a varint.
          const unknown = Buffer.from([0x82, 0x7d, content.length, ...content]);
          const bytes = Buffer.concat([unknown, codec.encode(message).finish(), unknown]);
          expect(codec.decode(bytes)).toEqual(message);
        }),
      );
    });

    test('is an error or something else, but never endless, when bytes are missing or wrong', () => {
      fc.assert(
        fc.property(messages, fc.nat(), fc.nat({ max: 255 }), (message, at, byte) => {
          const bytes = Buffer.from(codec.encode(message).finish());
          if (bytes.length === 0) return;
          const broken = Buffer.from(bytes);
          broken[at % bytes.length] = byte;
          for (const each of [bytes.subarray(0, at % bytes.length), broken])
            try {
              codec.decode(each);
            } catch (error) {
              expect(error).toBeInstanceOf(Error);
            }
        }),
      );
    });
  });
}

describeMessage('PodSandboxConfig', cri.PodSandboxConfig, arbitrary.podSandboxConfig);
describeMessage('ContainerConfig', cri.ContainerConfig, arbitrary.containerConfig);
describeMessage('ContainerStatus', cri.ContainerStatus, arbitrary.containerStatus);
describeMessage('PodSandboxStatusResponse', cri.PodSandboxStatusResponse, arbitrary.podSandboxStatusResponse);
describeMessage('ContainerStats', cri.ContainerStats, arbitrary.containerStats);

/** Recorded by record-containerd.ts. */
const recorded = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, 'golden/containerd.json'), 'utf8'),
) as Record<string, string>;

const bytesOf = (rpc: string): Buffer => Buffer.from(recorded[rpc] ?? '', 'hex');

describe('answers of containerd 1.6', () => {
  test.each(Object.keys(recorded))('%s is written again as the same bytes', (rpc) => {
    const method = Object.values(methods).find((each) => each.rpc === rpc);
    const message = method?.response.decode(bytesOf(rpc));
    expect(method && encodeMessage(method.response, message).toString('hex')).toBe(recorded[rpc]);
  });

  test('say what was asked for when they were recorded', () => {
    expect(cri.VersionResponse.decode(bytesOf('Version'))).toEqual({
      version: '0.1.0',
      runtimeName: 'containerd',
      runtimeVersion: expect.stringMatching(/^1\.6\./) as string,
      runtimeApiVersion: 'v1',
    });
    const { status: sandbox } = cri.PodSandboxStatusResponse.decode(bytesOf('PodSandboxStatus'));
    expect(sandbox).toMatchObject({
      metadata: { name: 'web', namespace: 'default', uid: 'uid-1', attempt: 2 },
      state: cri.PodSandboxState.SANDBOX_READY,
      network: { ip: '10.88.0.2', additionalIps: [] },
      labels: { app: 'web' },
      annotations: { 'podwire.test/note': 'naïve' },
    });
    const { status } = cri.ContainerStatusResponse.decode(bytesOf('ContainerStatus'));
    expect(status).toMatchObject({
      metadata: { name: 'main', attempt: 1 },
      state: cri.ContainerState.CONTAINER_RUNNING,
      finishedAt: 0n,
      image: { image: 'podwire.test/busybox:1' },
      mounts: [{ hostPath: '/tmp', containerPath: '/tmp/host', readonly: true }],
      logPath: '/tmp/podwire-golden/main.log',
      resources: { linux: { cpuShares: 512n, memoryLimitInBytes: 268_435_456n } },
    });
    expect(status?.startedAt).toBeGreaterThan(status?.createdAt ?? 0n);
    const { stats } = cri.ContainerStatsResponse.decode(bytesOf('ContainerStats'));
    expect(stats?.attributes?.id).toBe(status?.id);
    const { images } = cri.ListImagesResponse.decode(bytesOf('ListImages'));
    expect(images.flatMap(({ repoTags }) => repoTags)).toEqual([
      'podwire.test/busybox:1',
      'podwire.test/pause:1',
    ]);
  });
});
