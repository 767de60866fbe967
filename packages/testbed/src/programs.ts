/** Absolute paths of the programs that a testbed starts. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { findProgram, isExecutable } from '@podwire/linux';
import type { Shape } from './shape.js';

export interface Programs {
  readonly ip: string;
  /** Only where the store is etcd. */
  readonly etcd: string | undefined;
  readonly podwire: string;
  /** Directory of the plugin. */
  readonly plugins: string;
  /** Only where the model needs it. */
  readonly openVSwitch: OpenVSwitchPrograms | undefined;
}

export interface OpenVSwitchPrograms {
  readonly database: string;
  readonly daemon: string;
  /** Makes a database. */
  readonly tool: string;
  readonly vsctl: string;
}

/** This package: the nearest directory above with a package.json, whether the sources run or what was built of them. */
const findPackage = (directory: string): string =>
  fs.existsSync(path.join(directory, 'package.json')) ? directory : findPackage(path.dirname(directory));

/** `bin` of the checkout or installation that this program runs from. */
const ownBinDirectory = path.resolve(findPackage(import.meta.dirname), '../../bin');

/** etcd preallocates its write-ahead log in segments of 64 MB, two at the start. */
const roomOfEtcd = 200 << 20;

/** @throws PodwireError PREREQUISITE_MISSING when `directory` is on a file system that is too full for etcd */
export function requireRoom(directory: string): void {
  const { bavail, bsize } = fs.statfsSync(directory);
  if (bavail * bsize >= roomOfEtcd) return;
  const message = `etcd needs ${roomOfEtcd >> 20} MiB in ${directory}, ${Math.floor((bavail * bsize) / (1 << 20))} MiB are free; or take --store embedded`;
  throw new PodwireError('PREREQUISITE_MISSING', message);
}

/** @throws PodwireError PRIVILEGE_MISSING, PREREQUISITE_MISSING naming Debian's package */
export function findPrograms(
  { store, model }: Pick<Shape, 'store' | 'model'>,
  binDirectory = ownBinDirectory,
): Programs {
  if (process.getuid?.() !== 0)
    throw new PodwireError(
      'PRIVILEGE_MISSING',
      'a testbed is made of network namespaces, which only root may make',
    );
  const plugin = path.join(binDirectory, 'podwire-cni');
  if (!isExecutable(plugin))
    throw new PodwireError(
      'PREREQUISITE_MISSING',
      `the plugin ${plugin} is not built yet: run "npm run setup"`,
    );
  requireProgram('nft', 'nftables');
  return {
    ip: requireProgram('ip', 'iproute2'),
    etcd: store === 'etcd' ? requireProgram('etcd', 'etcd-server', ', or take --store embedded') : undefined,
    podwire: path.join(binDirectory, 'podwire'),
    plugins: binDirectory,
    openVSwitch: model === 'sdn' ? findOpenVSwitch() : undefined,
  };
}

function findOpenVSwitch(): OpenVSwitchPrograms {
  const find = (name: string): string => requireProgram(name, 'openvswitch-switch');
  return {
    database: find('ovsdb-server'),
    daemon: find('ovs-vswitchd'),
    tool: find('ovsdb-tool'),
    vsctl: find('ovs-vsctl'),
  };
}

/** Reports if a testbed can have a real etcd on this machine. */
export const hasEtcd = (): boolean => findProgram('etcd') !== undefined;

function requireProgram(name: string, debianPackage: string, otherwise = ''): string {
  const found = findProgram(name);
  if (found !== undefined) return found;
  const message = `the program ${name} is not installed: apt-get install ${debianPackage}${otherwise}`;
  throw new PodwireError('PREREQUISITE_MISSING', message);
}
