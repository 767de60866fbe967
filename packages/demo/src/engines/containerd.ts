import fs from 'node:fs';
import path from 'node:path';
import { placesIn, writeOwnNetwork } from '@podwire/cli/pods';
import { renderContainerdConfig } from '@podwire/testkit/containerd';
import { requireEngine } from '../prerequisites.js';
import { engineDirectory, runProgram, startEngineProgram } from './daemon.js';
import type { Engine, EngineCall } from './engine.js';
import { pauseImage, writeImages } from './images.js';

/** containerd with its own root, state and socket; its CNI configuration leads to the demo's node agent. */
export async function startContainerd(call: EngineCall): Promise<Engine> {
  const { containerd, ctr, loopback, busybox } = requireEngine('containerd', {
    containerd: 'containerd',
    ctr: 'containerd',
    runc: 'runc',
    // containerd 1.6 starts it for each pod.
    loopback: 'containernetworking-plugins',
    busybox: 'busybox-static',
  });
  const directory = engineDirectory(call);
  const places = placesIn(call.record.current.directory);
  fs.mkdirSync(path.join(directory, 'images'), { recursive: true, mode: 0o700 });
  writeOwnNetwork(places);
  const plugins = path.join(directory, 'plugins');
  fs.mkdirSync(plugins);
  for (const file of [loopback, path.join(call.programs.pluginDirectory, 'podwire-cni')])
    fs.symlinkSync(file, path.join(plugins, path.basename(file)));
  const config = path.join(directory, 'containerd.toml');
  const socket = path.join(directory, 'containerd.sock');
  fs.writeFileSync(
    config,
    renderContainerdConfig(directory, { binDir: plugins, confDir: places.networkConfig, pauseImage }),
  );
  await startEngineProgram(
    call,
    'containerd',
    [containerd, '--config', config],
    /containerd successfully booted/,
  );
  for (const archive of await writeImages(path.join(directory, 'images'), busybox, call.signal)) {
    const words = ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive];
    await runProgram([ctr, ...words], call.signal);
  }
  return { runtime: socket, more: [] };
}
