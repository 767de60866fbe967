/** Images of the machine's own static busybox, since the private host reaches no registry. */
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { runProgram } from './daemon.js';

/** That of the manifests in examples/. */
const busyboxImage = 'docker.io/library/busybox:1.35';
/** That which holds a sandbox; no registry has one of that name. */
export const pauseImage = 'podwire.invalid/pause:1';

const applets = ['sh', 'cat', 'echo', 'hostname', 'httpd', 'ip', 'ls', 'nc', 'ping', 'ps', 'sleep', 'wget'];
/** SIGTERM ends it: as the first process of a container it gets no signal that it does not ask for. */
const pause = [
  '/bin/busybox',
  'sh',
  '-c',
  "trap 'exit 0' TERM; while :; do busybox sleep 3600 & wait $!; done",
];

const imageSpecs = [
  { name: busyboxImage, file: 'busybox.tar', command: ['/bin/sh'] },
  { name: pauseImage, file: 'pause.tar', command: pause },
];

/** Writes one archive (Docker's format, which containerd reads too) for each image. @returns their files */
export async function writeImages(
  directory: string,
  busybox: string,
  signal: AbortSignal,
): Promise<string[]> {
  const at = (...names: string[]): string => path.join(directory, ...names);
  for (const name of ['bin', 'tmp', 'proc', 'sys', 'dev', 'etc'])
    fs.mkdirSync(at('root', name), { recursive: true });
  fs.copyFileSync(busybox, at('root/bin/busybox'));
  fs.chmodSync(at('root/bin/busybox'), 0o755);
  for (const applet of applets) fs.symlinkSync('busybox', at('root/bin', applet));
  await runProgram(['tar', '-cf', at('layer.tar'), '-C', at('root'), '.'], signal);
  const layer = sha256(fs.readFileSync(at('layer.tar')));
  // One after the other: another link to the layer is a change of it, which tar takes for a fault.
  for (const { name, file, command } of imageSpecs) {
    const folder = at(`${file}.parts`);
    fs.mkdirSync(folder);
    fs.linkSync(at('layer.tar'), path.join(folder, 'layer.tar'));
    writeDescription(folder, name, command, layer);
    await runProgram(['tar', '-cf', at(file), '-C', folder, '.'], signal);
  }
  return imageSpecs.map(({ file }) => at(file));
}

function writeDescription(folder: string, name: string, command: readonly string[], layer: string): void {
  const config = JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Cmd: command, Env: ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  });
  const manifest = [{ Config: `${sha256(config)}.json`, RepoTags: [name], Layers: ['layer.tar'] }];
  fs.writeFileSync(path.join(folder, `${sha256(config)}.json`), config);
  fs.writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
}

const sha256 = (data: Uint8Array | string): string => crypto.createHash('sha256').update(data).digest('hex');
