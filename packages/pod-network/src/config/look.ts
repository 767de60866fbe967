/** One look at the configuration directory: which network it means, and what speaks against each file. */
import path from 'node:path';
import { CniError, listConfigFiles, loadNetworkFile, type NetworkConfig } from '@podwire/cni';
import type { FileVerdict } from '../contract.js';

export interface FileFinding {
  readonly file: string;
  readonly verdict: FileVerdict;
  readonly why: string;
}

export interface Finding {
  /** The first usable one. */
  readonly network: NetworkConfig | undefined;
  readonly files: readonly FileFinding[];
  /** Why there is none, in words. */
  readonly problem: string;
}

export interface LookOptions {
  readonly directory: string;
  /** Take the network of this name, wherever it stands. */
  readonly pinned?: string;
  /** Throws when the plugins of a network cannot serve it. */
  readonly validate: (network: NetworkConfig) => Promise<unknown>;
}

/** Never throws: a directory that cannot be read is a finding too. */
export async function lookAtDirectory(options: LookOptions): Promise<Finding> {
  const { directory } = options;
  let names: readonly string[];
  try {
    names = await listConfigFiles(directory);
  } catch (error) {
    return { network: undefined, files: [], problem: messageOf(error) };
  }
  let network: NetworkConfig | undefined;
  const files: FileFinding[] = [];
  for (const file of names) {
    const judged: Judgement =
      network === undefined
        ? await judgeFile(file, options)
        : { verdict: 'not needed', why: `${path.basename(network.file ?? '')} comes before it` };
    network ??= judged.network;
    files.push({ file, verdict: judged.verdict, why: judged.why });
  }
  return { network, files, problem: network === undefined ? describeLack(options, files) : '' };
}

interface Judgement {
  readonly verdict: FileVerdict;
  readonly why: string;
  readonly network?: NetworkConfig;
}

async function judgeFile(file: string, { pinned, validate }: LookOptions): Promise<Judgement> {
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

function describeLack({ directory, pinned }: LookOptions, files: readonly FileFinding[]): string {
  if (files.length === 0) return `there is no CNI configuration in ${directory}`;
  const wanted = pinned === undefined ? 'no usable CNI network' : `no usable CNI network ${pinned}`;
  const reasons = files.map(({ file, why }) => `${path.basename(file)}: ${why}`);
  return `${wanted} in ${directory}: ${reasons.join('; ')}`;
}
