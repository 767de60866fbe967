import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { processesIn } from '../namespaces.js';
import { mountsBelow, unmountBelow } from '@podwire/linux';
import type { PrivateHost } from '../private-host.js';
import { run, type RunningProcess } from '../processes.js';
import { connectCri, type CriConnection, isCriError } from '@podwire/cri';
import { renderContainerdConfig } from './config.js';
import { createCriClient, type CriClient } from './cri.js';
import { buildBusyboxImage, buildPauseImage, pauseImage } from './image.js';

export interface ContainerdOptions {
  /** Where the CNI plugins are. */
  readonly binDir: string;
  /** Where the CNI configuration is. */
  readonly confDir: string;
  /** Another program in the place of runc, which is told that systemd makes control groups. */
  readonly systemdRunc?: string;
}

/** A containerd of its own inside a private host: own root, state, socket and images. */
export interface Containerd {
  /** The interface itself. */
  readonly runtime: CriConnection;
  /** The same in few words. */
  readonly cri: CriClient;
  readonly socket: string;
  readonly stateDirectory: string;
  /** Log so far. */
  log(): string;
  /** Ends the daemon and starts it again; containers go on meanwhile, held by their shims. */
  restart(): Promise<void>;
  /** Stops and removes every sandbox. */
  removeSandboxes(): Promise<void>;
  /** Removes every sandbox, then ends the daemon. Also runs when the host closes. */
  close(): Promise<void>;
}

/**
 * Starts containerd inside the host's namespace and imports the test images. Its plugins and shims live there too.
 * Needs Debian's containerd, runc and busybox-static.
 */
export async function startContainerd(host: PrivateHost, options: ContainerdOptions): Promise<Containerd> {
  const directory = path.join(host.directory, 'containerd');
  const socket = path.join(directory, 'containerd.sock');
  const stateDirectory = path.join(directory, 'state');
  fs.mkdirSync(directory, { mode: 0o700 });
  const configFile = path.join(directory, 'config.toml');
  fs.writeFileSync(configFile, renderContainerdConfig(directory, { ...options, pauseImage }));
  const start = (): RunningProcess => host.start(['containerd', '--config', configFile]);
  let daemon = start();
  const log = { earlier: '' };
  await daemon.waitForOutput(serving);
  const runtime = await connect(socket);
  const cri = createCriClient(runtime);
  let closed = false;
  const self: Containerd = {
    runtime,
    cri,
    socket,
    stateDirectory,
    log: () => log.earlier + daemon.stderr(),
    restart: async () => {
      await daemon.stop();
      log.earlier += daemon.stderr();
      daemon = start();
      await daemon.waitForOutput(serving);
      await untilInitialized(runtime);
    },
    removeSandboxes: () => removeSandboxes(cri),
    close: async () => {
      if (closed) return;
      closed = true;
      try {
        await removeSandboxes(cri);
      } finally {
        runtime.close();
        await daemon.stop();
        removeRemains(directory, stateDirectory);
      }
    },
  };
  host.defer(() => self.close());
  await untilInitialized(runtime);
  await importImages(directory, socket);
  return self;
}

const serving = /Start streaming server/;

/** It says that it serves a moment before it listens. */
const connect = (socket: string): Promise<CriConnection> => repeated(() => connectCri({ socket }));

/** The CRI service answers a moment before it is initialised, and has no event for that. */
const untilInitialized = (runtime: CriConnection): Promise<unknown> =>
  repeated(() => runtime.status({ verbose: false }));

async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const comes = isCriError(error, 'UNAVAILABLE') || /not initialized/.test(String(error));
      if (attempt === 500 || !comes) throw error;
      await setTimeout(10);
    }
  }
}

async function importImages(directory: string, socket: string): Promise<void> {
  for (const [name, image] of [
    ['pause', buildPauseImage()],
    ['busybox', buildBusyboxImage()],
  ] as const) {
    const archive = path.join(directory, `${name}.tar`);
    fs.writeFileSync(archive, image);
    await run(['ctr', '--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
  }
}

/** Removing stops it and its containers first (CRI: RemovePodSandbox must force). */
async function removeSandboxes(cri: CriClient): Promise<void> {
  for (const { id } of await cri.listSandboxes()) {
    await stopSurely(cri, id);
    await cri.removeSandbox(id);
  }
}

/**
 * containerd 1.6 fails to stop a container that ends by itself at that very moment (its shim closes the connection:
 * "ttrpc: closed"); every client asks again, so this one does too.
 */
async function stopSurely(cri: CriClient, id: string): Promise<void> {
  const mostAttempts = 5;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await cri.stopSandbox(id);
    } catch (error) {
      if (attempt === mostAttempts || !String(error).includes('ttrpc: closed')) throw error;
      await setTimeout(100);
    }
  }
}

/** Removes the remains of a containerd that could not be asked any more: processes of its pods, and mounts. */
function removeRemains(directory: string, stateDirectory: string): void {
  const namespaces = mountsBelow(stateDirectory).filter((mount) => mount.type === 'nsfs');
  const inodes = new Set(namespaces.map((mount) => fs.statSync(mount.path).ino));
  for (const pid of processesIn(inodes)) process.kill(pid, 'SIGKILL');
  unmountBelow(directory);
}
