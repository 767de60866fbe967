/** Command-line options of `podwire podlet` and `podwire sandbox`, with defaults that fit together. */
import fs from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import path from 'node:path';
import { isLabel } from '@podwire/apimachinery';
import { describeError, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { RotationPolicy } from '@podwire/podlet';
import { isSysctlPattern } from '@podwire/pod-spec';
import { kubeletLogLinks, kubeletLogs, type Places, placesIn } from '../pods/locate.js';
import { type LogRotationWords, readLogRotation } from './log-rotation.js';

export interface RuntimeSettings {
  readonly directory: string;
  readonly places: Places;
  /** `embedded`, `docker`, or the path of a CRI socket. */
  readonly runtime: string;
  readonly dockerSocket: string;
  readonly sandboxImage?: string;
  /** Adopt sandboxes that others made, with what this directory has of their networks. */
  readonly takeOverFrom?: string;
  readonly network: {
    readonly configDirectory: string;
    readonly pluginPath: readonly string[];
    /** Take this one, whatever the order of files. */
    readonly name?: string;
    /** For what must outlive the boot. */
    readonly stateDirectory: string;
  };
}

export interface PodAgentSettings extends RuntimeSettings {
  readonly nodeName: string;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly allowedUnsafeSysctls: readonly string[];
  readonly files: readonly string[];
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string[]>>;
  readonly nameSuffix: 'node' | 'none';
  /** Pods of an API server too. */
  readonly kubeconfig?: string;
  readonly logs: string;
  /** Where links to logs go; none when absent. */
  readonly logLinks?: string;
  readonly logRotation: RotationPolicy;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Files as `docker login` writes them, for pulls. */
  readonly credentials: readonly string[];
  /** Directory of the pull secrets of pods that are not of an API server. */
  readonly pullSecrets?: string;
  /** For a runtime that does not tell. */
  readonly cgroupDriver?: 'cgroupfs' | 'systemd';
  readonly cgroupRoot?: string;
}

/** As commander gives them. */
export interface RuntimeWords {
  readonly runtime: string;
  readonly dockerSocket: string;
  readonly sandboxImage?: string;
  /** True without a directory. */
  readonly takeOver?: string | true;
  readonly cniConfDir: string;
  readonly cniBinDir: readonly string[];
  readonly network?: string;
}

export interface PodAgentWords extends RuntimeWords, LogRotationWords {
  readonly nodeName?: string;
  readonly nodeLabel: readonly string[];
  readonly allowedUnsafeSysctls: readonly string[];
  readonly manifests: readonly string[];
  readonly url: readonly string[];
  readonly header: readonly string[];
  readonly headerFile?: readonly string[];
  readonly nameSuffix: 'node' | 'none';
  readonly kubeconfig?: string;
  readonly logs?: string;
  readonly containerLogLinks?: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly credentials: readonly string[];
  readonly pullSecrets?: string;
  readonly cgroupDriver?: 'cgroupfs' | 'systemd';
  readonly cgroupRoot?: string;
}

/** Sockets of runtimes that people call by name. */
const wellKnown: Readonly<Record<string, string>> = {
  containerd: '/run/containerd/containerd.sock',
  crio: '/run/crio/crio.sock',
  'cri-dockerd': '/run/cri-dockerd.sock',
};

export function readRuntimeSettings(directory: string, words: RuntimeWords): RuntimeSettings {
  const named = wellKnown[words.runtime] ?? words.runtime;
  return {
    directory,
    places: placesIn(directory),
    runtime: named.replace(/^unix:\/\//, ''),
    dockerSocket: words.dockerSocket,
    ...compact({ sandboxImage: words.sandboxImage }),
    ...(words.takeOver === undefined ? {} : { takeOverFrom: findCache(words.takeOver) }),
    network: {
      configDirectory: path.resolve(words.cniConfDir),
      pluginPath: words.cniBinDir.map((each) => path.resolve(each)),
      ...compact({ name: words.network }),
      stateDirectory: placesIn(directory).networkState,
    },
  };
}

/** Dockershim and cri-dockerd have Go's library keep its results there. */
function findCache(given: string | true): string {
  return given === true ? '/var/lib/cni/cache' : path.resolve(given);
}

export function readPodAgentSettings(
  directory: string,
  words: PodAgentWords,
  hostname: string,
): PodAgentSettings {
  const logs = path.resolve(words.logs ?? placesIn(directory).podLogs);
  const logLinks = readLogLinks(logs, words.containerLogLinks);
  return {
    ...readRuntimeSettings(directory, words),
    nodeName: words.nodeName ?? hostname.toLowerCase(),
    nodeLabels: readLabels(words.nodeLabel),
    allowedUnsafeSysctls: readSysctls(words.allowedUnsafeSysctls),
    files: words.manifests.map((each) => path.resolve(each)),
    urls: words.url,
    headers: readHeaders([
      ...words.header.map((line, index) => ({ line, where: `--header, number ${index + 1}` })),
      ...(words.headerFile ?? []).flatMap(readHeaderFile),
    ]),
    nameSuffix: words.nameSuffix,
    ...(words.kubeconfig === undefined ? {} : { kubeconfig: path.resolve(words.kubeconfig) }),
    logs,
    ...compact({ logLinks }),
    logRotation: readLogRotation(words),
    clusterDns: words.clusterDns,
    clusterDomain: words.clusterDomain,
    credentials: words.credentials.map((each) => path.resolve(each)),
    ...compact({ cgroupDriver: words.cgroupDriver, cgroupRoot: words.cgroupRoot }),
    ...(words.pullSecrets === undefined ? {} : { pullSecrets: path.resolve(words.pullSecrets) }),
  };
}

/** Log collectors look for links where the kubelet has them, so they are made there for logs that are where the kubelet has these. */
function readLogLinks(logs: string, given: string | undefined): string | undefined {
  if (given === undefined) return logs === kubeletLogs ? kubeletLogLinks : undefined;
  return given === 'none' ? undefined : path.resolve(given);
}

/** `KEY=VALUE`. @throws PodwireError CONFIG_INVALID */
function readLabels(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const [key, value] = /^([^=]+)=(.*)$/.exec(word)?.slice(1) ?? [];
      if (key !== undefined && value !== undefined && isLabel(key, value)) return [key, value];
      throw new PodwireError(
        'CONFIG_INVALID',
        `--node-label ${JSON.stringify(word)}: must be KEY=VALUE, as labels are written`,
      );
    }),
  );
}

/** @throws PodwireError CONFIG_INVALID for one that would reach a setting of the whole node */
function readSysctls(words: readonly string[]): readonly string[] {
  const patterns = words.flatMap((word) => word.split(',')).map((word) => word.trim());
  const bad = patterns.find((pattern) => !isSysctlPattern(pattern));
  if (bad === undefined) return patterns;
  throw new PodwireError(
    'CONFIG_INVALID',
    `--allowed-unsafe-sysctls ${JSON.stringify(bad)}: must be a name, or the beginning of one with a * behind, of net.*, ` +
      'kernel.sem, kernel.shm*, kernel.msg* or fs.mqueue.*; others belong to the whole node',
  );
}

interface HeaderLine {
  readonly line: string;
  /** For messages, which must not have the line itself: it may be a secret. */
  readonly where: string;
}

/** One header a line; empty lines do not count. @throws PodwireError CONFIG_INVALID */
function readHeaderFile(file: string): HeaderLine[] {
  return readText(file)
    .split('\n')
    .map((line, index) => ({ line: line.trim(), where: `${file}:${index + 1}` }))
    .filter(({ line }) => line !== '');
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `--header-file: ${describeError(cause)}`, { cause });
  }
}

/** `Name: value`; the same name again adds a value. @throws PodwireError CONFIG_INVALID without the line, which may be a secret */
function readHeaders(lines: readonly HeaderLine[]): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const { line, where } of lines) {
    const at = line.indexOf(':');
    const [name, value] = [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 1).trim()];
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw new PodwireError('CONFIG_INVALID', `${where}: must be "Name: value"`);
    }
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return Object.fromEntries(headers);
}
