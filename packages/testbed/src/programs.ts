/** Absolute paths of the programs that a testbed starts. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { findProgram, isExecutable } from '@podwire/linux';
import type { Model, Shape } from './shape.js';

export interface Programs {
  readonly ip: string;
  /** Only where the store is etcd. */
  readonly etcd: string | undefined;
  readonly podwire: string;
  /** Directory of the plugin. */
  readonly plugins: string;
  /** Only where the model needs it. */
  readonly openVSwitch: OpenVSwitchPrograms | undefined;
  /** Only where the model needs it. */
  readonly ovn: OvnPrograms | undefined;
}

export interface OpenVSwitchPrograms {
  readonly database: string;
  readonly daemon: string;
  /** Makes a database. */
  readonly tool: string;
  readonly vsctl: string;
}

export interface OvnPrograms {
  readonly northd: string;
  readonly controller: string;
  /** Of the northbound database. */
  readonly nbctl: string;
  /** Of the southbound database. */
  readonly sbctl: string;
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
    ...findModelPrograms(model),
  };
}

/** @param directories those of `PATH` when absent. @throws PodwireError PREREQUISITE_MISSING naming Debian's package */
export function findModelPrograms(
  model: Model,
  directories?: readonly string[],
): Pick<Programs, 'openVSwitch' | 'ovn'> {
  const find = (debianPackage: string, name: string): string =>
    requireProgram(name, debianPackage, '', directories);
  return {
    openVSwitch: model === 'routed' ? undefined : findOpenVSwitch(find),
    ovn: model === 'ovn' ? findOvn(find) : undefined,
  };
}

type Find = (debianPackage: string, name: string) => string;

const findOpenVSwitch = (find: Find): OpenVSwitchPrograms => ({
  database: find('openvswitch-switch', 'ovsdb-server'),
  daemon: find('openvswitch-switch', 'ovs-vswitchd'),
  tool: find('openvswitch-switch', 'ovsdb-tool'),
  vsctl: find('openvswitch-switch', 'ovs-vsctl'),
});

const findOvn = (find: Find): OvnPrograms => ({
  northd: find('ovn-central', 'ovn-northd'),
  controller: find('ovn-host', 'ovn-controller'),
  nbctl: find('ovn-common', 'ovn-nbctl'),
  sbctl: find('ovn-common', 'ovn-sbctl'),
});

/** Reports if a testbed can have a real etcd on this machine. */
export const hasEtcd = (): boolean => findProgram('etcd') !== undefined;

function requireProgram(
  name: string,
  debianPackage: string,
  otherwise = '',
  directories?: readonly string[],
): string {
  const found = findProgram(name, directories);
  if (found !== undefined) return found;
  const message = `the program ${name} is not installed: apt-get install ${debianPackage}${otherwise}`;
  throw new PodwireError('PREREQUISITE_MISSING', message);
}
