/** The suite on containerd 1.6 with Debian's bridge plugin, in both versions of the interface that it speaks. */
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connectCri } from '@podwire/cri';
import { type ComplianceTarget, testCompliance } from '@podwire/cri-compliance';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { busyboxImage, startContainerd, writeImage } from '@podwire/testkit/containerd';
import { bridgeNetwork } from './bridge-network.js';

for (const apiVersion of ['v1', 'v1alpha2'] as const)
  testCompliance(
    { describe, test, before, after },
    {
      name: `containerd by ${apiVersion}`,
      // Events and RuntimeConfig came with 1.7; stops of the unknown are NOT_FOUND, and the filter of images is not read.
      lacks: ['events', 'runtime config', 'stop of unknown', 'stops at once', 'image filter'],
      open: () => openContainerd(apiVersion),
    },
  );

async function openContainerd(apiVersion: 'v1' | 'v1alpha2'): Promise<ComplianceTarget> {
  const host = await createPrivateHost({ name: 'cri' });
  try {
    const confDir = path.join(host.directory, 'net.d');
    const directory = path.join(host.directory, 'files');
    for (const each of [confDir, directory]) fs.mkdirSync(each);
    fs.writeFileSync(path.join(confDir, '10-bridge.conflist'), JSON.stringify(bridgeNetwork(host.directory)));
    const { socket } = await startContainerd(host, { binDir: '/usr/lib/cni', confDir });
    const runtime = await connectCri({ socket, apiVersion });
    host.defer(() => runtime.close());
    await importImage(host, socket, removableImage);
    return { runtime, image: busyboxImage, removableImage, directory, close: () => host.close() };
  } catch (error) {
    await host.close();
    throw error;
  }
}

const removableImage = 'podwire.test/other:1';

async function importImage(host: PrivateHost, socket: string, name: string): Promise<void> {
  const archive = path.join(host.directory, 'image.tar');
  const files = [{ name: 'readme', content: Buffer.from('nothing is run of this') }];
  fs.writeFileSync(archive, writeImage({ name, files, command: ['/readme'] }));
  await host.run(['ctr', '--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
}
