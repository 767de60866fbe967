/** Environment of the runtime in tests: directories of their own, and the program as set-up builds it. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ContainerConfig,
  ContainerState,
  type ContainerStatus,
  type CriRuntime,
  PodSandboxConfig,
} from '@podwire/cri';
import type { EmbeddedRuntime } from '@podwire/cri-native';
import { lockFile } from '@podwire/linux';

const packageRoot = path.resolve(import.meta.dirname, '../..');
export const pauseProgram = path.resolve(packageRoot, '../../bin/podwire-hold');

/** Compiles it if its sources have changed. */
export function buildPauseProgram(): void {
  execFileSync(process.execPath, [path.join(packageRoot, 'native/build.mjs'), pauseProgram], {
    timeout: 60_000,
  });
}

/** The files and mounts of one runtime, each its own. */
export interface Place {
  readonly directory: string;
  readonly state: string;
  readonly netns: string;
  readonly logs: string;
}

export function createDirectories(): Place {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwe-'));
  const at = (name: string): string => {
    fs.mkdirSync(path.join(directory, name));
    return path.join(directory, name);
  };
  return { directory, state: at('state'), netns: at('netns'), logs: at('logs') };
}

/** Pids of everything that has one of these texts in its command line: pause processes, shims, programs. */
export function processesNaming(text: string): number[] {
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((entry) => {
      try {
        return fs.readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Reports if the container's shim runs: it holds a lock for as long as that. */
export function hasShim(place: Place, containerId: string): boolean {
  const fd = fs.openSync(path.join(place.state, 'containers', containerId, 'alive'), 'r');
  try {
    lockFile(fd);
    return false;
  } catch {
    return true;
  } finally {
    fs.closeSync(fd);
  }
}

/** A shim writes down how its program has ended a moment after that; no event tells of its own end. @throws Error after 20 s */
export async function untilShimGone(place: Place, containerId: string): Promise<void> {
  for (const end = performance.now() + 20_000; hasShim(place, containerId); await delay(5))
    if (performance.now() > end) throw new Error(`the shim of ${containerId} does not end`);
}

export const mountsNaming = (text: string): string[] =>
  fs
    .readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(text));

/** Remains of a place's sandboxes and containers, in words; nothing when all is gone. */
export function leftovers(place: Place): string[] {
  const files = [
    ...fs.readdirSync(path.join(place.state, 'sandboxes')).map((name) => `sandboxes/${name}`),
    ...fs.readdirSync(path.join(place.state, 'containers')).map((name) => `containers/${name}`),
    ...fs.readdirSync(place.netns).map((name) => `netns/${name}`),
  ];
  return [
    ...files,
    ...processesNaming(`${place.state}/`).map((pid) => `process ${pid}`),
    ...mountsNaming(place.directory).map((line) => `mount ${line}`),
  ];
}

/** Ends the one sandbox and the runtime; then nothing of either may be left. */
export async function closePlace(place: Place, runtime: EmbeddedRuntime, sandbox: string): Promise<void> {
  await runtime.removePodSandbox({ podSandboxId: sandbox });
  const left = leftovers(place);
  await runtime.close();
  fs.rmSync(place.directory, { recursive: true });
  assert.deepEqual(left, []);
}

type SandboxFields = Parameters<typeof PodSandboxConfig.fromPartial>[0];
type ContainerFields = Parameters<typeof ContainerConfig.fromPartial>[0];

let made = 0;

export function sandboxConfig(place: Place, fields: SandboxFields = {}): PodSandboxConfig {
  made += 1;
  const name = `pod${made}`;
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    hostname: name,
    logDirectory: place.logs,
    ...fields,
  });
}

export function containerConfig(command: readonly string[], fields: ContainerFields = {}): ContainerConfig {
  made += 1;
  return ContainerConfig.fromPartial({
    metadata: { name: `container${made}` },
    image: { image: 'busybox:1' },
    command,
    logPath: `container${made}.log`,
    ...fields,
  });
}

export async function runSandbox(runtime: CriRuntime, config: PodSandboxConfig): Promise<string> {
  return (await runtime.runPodSandbox({ config, runtimeHandler: '' })).podSandboxId;
}

/** @returns the id of a container that runs */
export async function runContainer(
  runtime: CriRuntime,
  podSandboxId: string,
  config: ContainerConfig,
): Promise<string> {
  const { containerId } = await runtime.createContainer({ podSandboxId, config, sandboxConfig: undefined });
  await runtime.startContainer({ containerId });
  return containerId;
}

/** The shell's standard output. */
export async function inside(runtime: CriRuntime, containerId: string, script: string): Promise<string> {
  const cmd = ['/bin/busybox', 'sh', '-c', script];
  const { stdout, stderr, exitCode } = await runtime.execSync({ containerId, cmd, timeout: 20n });
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
  if (exitCode !== 0) throw new Error(`${script}: exit ${exitCode}: ${text(stderr)}`);
  return text(stdout);
}

/** The end of a container, which comes as an event. */
export async function untilExited(runtime: CriRuntime, containerId: string): Promise<ContainerStatus> {
  const enough = new AbortController();
  const look = async (): Promise<ContainerStatus | undefined> => {
    const { status } = await runtime.containerStatus({ containerId, verbose: false });
    return status?.state === ContainerState.CONTAINER_EXITED ? status : undefined;
  };
  // Before the first look: what happens meanwhile waits to be read.
  const events = runtime.getContainerEvents({}, { signal: enough.signal });
  try {
    const already = await look();
    if (already !== undefined) return already;
    for await (const event of events) {
      const found = event.containerId === containerId ? await look() : undefined;
      if (found !== undefined) return found;
    }
    throw new Error(`the events ended before container ${containerId} did`);
  } finally {
    enough.abort();
  }
}

/** Runs it when this process may open only so many files more. */
export async function withDescriptorsLeft<T>(count: number, work: () => Promise<T>): Promise<T> {
  const limit = (soft: string): Buffer =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${soft}:`]);
  const highest = Math.max(...fs.readdirSync('/proc/self/fd').map(Number));
  const [, before = ''] = /Max open files +(\d+)/.exec(fs.readFileSync('/proc/self/limits', 'utf8')) ?? [];
  const taken: number[] = [];
  limit(String(highest + 50));
  try {
    for (;;) taken.push(fs.openSync('/dev/null', 'r'));
  } catch {
    for (const fd of taken.splice(taken.length - count)) fs.closeSync(fd);
  }
  try {
    return await work();
  } finally {
    for (const fd of taken) fs.closeSync(fd);
    limit(before);
  }
}
