/** The files by which plugins and runtimes learn that the node serves OpenShift's plugin. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLog } from '@podwire/platform';
import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../src/log.js';
import { openOpenshiftCni } from '../src/server/openshift-cni.js';

async function open() {
  const top = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-openshift-'));
  onTestFinished(() => fs.rmSync(top, { recursive: true }));
  const places = { directory: path.join(top, 'run'), networkConfigDir: path.join(top, 'net.d') };
  let become: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (become = resolve));
  const stopped = new AbortController();
  const server = await openOpenshiftCni({
    config: { ...places, cniVersion: '0.2.0' },
    ...{ maxConnections: 1, deadline: 1_000, serve: () => Promise.resolve(), ready, signal: stopped.signal },
    describeNode: () => ({ mtu: 1450 }),
    ...{ peerCredentials: () => undefined, log: silentLog as Log },
  });
  const list = (): string[] =>
    Object.values(places).flatMap((place) => (fs.existsSync(place) ? fs.readdirSync(place).toSorted() : []));
  const stop = async (): Promise<void> => {
    stopped.abort();
    await server.stop(0);
  };
  return { become, stop, list };
}

test('are written when the node is ready, and config.json goes when the agent stops', async () => {
  const { become, stop, list } = await open();
  expect(list()).toEqual(['socket']);
  become();
  await expect.poll(list).toEqual(['config.json', 'socket', '80-openshift-network.conf']);
  await stop();
  expect(list()).toEqual(['80-openshift-network.conf']);
});

test('are not written by an agent whose node becomes ready while it stops', async () => {
  const { become, stop, list } = await open();
  const stopping = stop();
  become();
  await stopping;
  expect(list()).toEqual([]);
});
