/** Scans the configuration directory: the network to use, and the status of each file. */
import path from 'node:path';
import { CniError, listConfigFiles, loadNetworkFile, type NetworkConfig } from '@podwire/cni';
import type { FileStatus } from '../contract.js';

export interface FileResult {
  readonly file: string;
  readonly verdict: FileStatus;
  readonly why: string;
}

export interface ScanResult {
  /** The first usable one. */
  readonly network: NetworkConfig | undefined;
  readonly files: readonly FileResult[];
  /** Why there is none, in words. */
  readonly problem: string;
}

export interface ScanOptions {
  readonly directory: string;
  /** Take the network of this name, wherever it stands. */
  readonly pinned?: string;
  /** Throws when the plugins of a network cannot serve it. */
  readonly validate: (network: NetworkConfig) => Promise<unknown>;
}

/** Never throws: a directory that cannot be read is a result too. */
export async function scanDirectory(options: ScanOptions): Promise<ScanResult> {
  const { directory } = options;
  let names: readonly string[];
  try {
    names = await listConfigFiles(directory);
  } catch (error) {
    return { network: undefined, files: [], problem: messageOf(error) };
  }
  let network: NetworkConfig | undefined;
  const files: FileResult[] = [];
  for (const file of names) {
    const check: FileCheck =
      network === undefined
        ? await checkFile(file, options)
        : { verdict: 'not needed', why: `${path.basename(network.file ?? '')} comes before it` };
    network ??= check.network;
    files.push({ file, verdict: check.verdict, why: check.why });
  }
  return { network, files, problem: network === undefined ? describeLack(options, files) : '' };
}

interface FileCheck {
  readonly verdict: FileStatus;
  readonly why: string;
  readonly network?: NetworkConfig;
}

async function checkFile(file: string, { pinned, validate }: ScanOptions): Promise<FileCheck> {
  let network: NetworkConfig;
  try {
    network = await loadNetworkFile(file);
  } catch (error) {
    return { verdict: 'broken', why: withoutFile(file, error) };
  }
  if (pinned !== undefined && network.name !== pinned) {
    return { verdict: 'other name', why: `its network is called ${network.name}, not ${pinned}` };
  }
  try {
    await validate(network);
  } catch (error) {
    return { verdict: 'unusable', why: withoutFile(file, error) };
  }
  const first = pinned === undefined ? 'the first file that can be used' : `the first network ${pinned}`;
  return { verdict: 'chosen', why: first, network };
}

function withoutFile(file: string, error: unknown): string {
  const message = messageOf(error);
  return message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message;
}

function messageOf(error: unknown): string {
  return CniError.from(error).message;
}

function describeLack({ directory, pinned }: ScanOptions, files: readonly FileResult[]): string {
  if (files.length === 0) return `there is no CNI configuration in ${directory}`;
  const wanted = pinned === undefined ? 'no usable CNI network' : `no usable CNI network ${pinned}`;
  const reasons = files.map(({ file, why }) => `${path.basename(file)}: ${why}`);
  return `${wanted} in ${directory}: ${reasons.join('; ')}`;
}
