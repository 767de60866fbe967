/**
 * One small file for each sandbox that may have a network, written before ADD and removed after DEL. While the CNI cache has nothing
 * for it, ADD has not finished.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type CniArgs, type JsonObject, validateContainerId } from '@podwire/cni';
import { ifExists, readIfExists, replaceFile } from '@podwire/platform';
import type { LoopbackMode } from '../options.js';

/** Enough for a DEL without any configuration file, and to know whether it is stale. */
export interface SandboxRecord {
  readonly version: 1;
  readonly sandboxId: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly netns: string;
  /** Of the namespace at ADD: another one may have the path by now. */
  readonly netnsIdentity?: string;
  readonly interfaceName: string;
  readonly network: string;
  /** JSON of the network's list, as it was. */
  readonly config: string;
  readonly args: CniArgs;
  readonly capabilityArgs: JsonObject;
  readonly loopback: LoopbackMode;
  readonly bootId: string;
}

export interface SandboxRecords {
  /** Atomic. @throws the errors of the file system */
  write(record: SandboxRecord): Promise<void>;
  /** Undefined when there is none that can be used. @throws the errors of the file system: then it is unknown */
  read(sandboxId: string): Promise<SandboxRecord | undefined>;
  /** One that is gone already is fine. */
  remove(sandboxId: string): Promise<void>;
  list(): Promise<readonly SandboxRecord[]>;
}

const extension = '.json';

export function createSandboxRecords(directory: string, durable: boolean): SandboxRecords {
  const fileOf = (sandboxId: string): string => {
    // It becomes a file name: what has a slash in it must not get so far.
    validateContainerId(sandboxId);
    return path.join(directory, `${sandboxId}${extension}`);
  };
  return {
    write: async (record) => {
      await fs.mkdir(directory, { recursive: true, mode: 0o700 });
      await replaceFile(fileOf(record.sandboxId), JSON.stringify(record), { mode: 0o600, durable });
    },
    read: (sandboxId) => readRecord(fileOf(sandboxId)),
    remove: (sandboxId) => fs.rm(fileOf(sandboxId), { force: true }),
    list: async () => {
      const names = (await namesIn(directory)).filter(
        (name) => !name.startsWith('.') && name.endsWith(extension),
      );
      const records = await Promise.all(
        names.map((name) => readRecord(path.join(directory, name)).catch(() => undefined)),
      );
      return records.filter((record) => record !== undefined);
    },
  };
}

const namesIn = async (directory: string): Promise<readonly string[]> =>
  ((await ifExists(fs.readdir(directory))) ?? []).toSorted();

/** A file that is no record (anymore) is as good as none: the CNI cache still has what a finished ADD needs for its DEL. */
async function readRecord(file: string): Promise<SandboxRecord | undefined> {
  const text = await readIfExists(file);
  const value = text === undefined ? undefined : parseText(text);
  return isRecord(value) && path.basename(file) === `${value.sandboxId}${extension}` ? value : undefined;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const texts = [
  'sandboxId',
  'namespace',
  'name',
  'uid',
  'netns',
  'interfaceName',
  'network',
  'config',
  'loopback',
  'bootId',
];

function isRecord(value: unknown): value is SandboxRecord {
  if (typeof value !== 'object' || value === null) return false;
  const from = value as Readonly<Record<string, unknown>>;
  return (
    from['version'] === 1 &&
    texts.every((key) => typeof from[key] === 'string') &&
    Array.isArray(from['args']) &&
    typeof from['capabilityArgs'] === 'object'
  );
}
