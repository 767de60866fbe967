import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { nativeProgram } from '../native.js';
import { type TarEntry, writeTar } from './tar.js';

/** An image with one layer. */
export interface ImageSpec {
  /** With a domain and a tag, so that no runtime rewrites it: `podwire.test/pause:1`. */
  readonly name: string;
  readonly files: readonly TarEntry[];
  readonly command: readonly string[];
  /** `USER` or `USER:GROUP`, by number or name; root when absent. */
  readonly user?: string;
}

export const pauseImage = 'podwire.test/pause:1';
export const busyboxImage = 'podwire.test/busybox:1';

/** Writes an image in Docker's archive format, which containerd, Docker and Podman import. */
export function writeImage({ name, files, command, user = '' }: ImageSpec): Buffer {
  const layer = writeTar(files);
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Cmd: command, Env: ['PATH=/bin'], User: user },
      rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
    }),
  );
  const manifest = [{ Config: `${sha256(config)}.json`, RepoTags: [name], Layers: ['layer.tar'] }];
  return writeTar([
    { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)), mode: 0o644 },
    { name: `${sha256(config)}.json`, content: config, mode: 0o644 },
    { name: 'layer.tar', content: layer, mode: 0o644 },
  ]);
}

const sha256 = (data: Uint8Array): string => crypto.createHash('sha256').update(data).digest('hex');

/** The image that holds a sandbox. */
export function buildPauseImage(): Buffer {
  const content = fs.readFileSync(nativeProgram('pause'));
  return writeImage({ name: pauseImage, files: [{ name: 'pause', content }], command: ['/pause'] });
}

const applets = [
  'sh',
  'httpd',
  'wget',
  'nc',
  'ip',
  'ping',
  'cat',
  'echo',
  'sleep',
  'ls',
  'hostname',
  'mkdir',
];

/** The file tree of Debian's static busybox (package busybox-static). */
export function busyboxFiles(program = '/usr/bin/busybox'): TarEntry[] {
  const directories = ['bin', 'tmp', 'www'].map((name) => ({ name: `${name}/` }));
  const links = applets.map((applet) => ({ name: `bin/${applet}`, target: 'busybox' }));
  return [...directories, { name: 'bin/busybox', content: fs.readFileSync(program) }, ...links];
}

/** An image with it. */
export function buildBusyboxImage(): Buffer {
  return writeImage({ name: busyboxImage, files: busyboxFiles(), command: ['/bin/sh'] });
}

/** Lays a file tree into a directory, instead of into an archive. */
export function writeTree(directory: string, entries: readonly TarEntry[]): void {
  fs.mkdirSync(directory, { recursive: true });
  for (const { name, content, target, mode = 0o755 } of entries) {
    const file = path.join(directory, name);
    if (target !== undefined) fs.symlinkSync(target, file);
    else if (content !== undefined) fs.writeFileSync(file, content, { mode });
    else fs.mkdirSync(file, { mode });
  }
}
