import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { removeTreeSync, warmThreadPool } from '@podwire/linux';
import { createTestNamespace, processesIn, type TestNamespace } from './namespaces.js';
import type { ProcessOptions, RunningProcess, RunOptions } from './processes.js';
import { until } from './until.js';

/** How the host is joined to a "world" beyond it. */
export interface WorldOptions {
  /** bytes; 1500 when absent */
  readonly mtu?: number;
  readonly ipv4?: boolean;
  readonly ipv6?: boolean;
  /** True if the host routes everything else through the world; the default. */
  readonly defaultRoute?: boolean;
}

export interface HostOptions {
  /** Part of the namespaces' names; letters, digits and dashes. */
  readonly name?: string;
  readonly world?: boolean | WorldOptions;
}

/**
 * A machine of its own: a network namespace with `lo` up, perhaps an uplink `eth0` to a world, and pods' namespaces.
 * Nothing of it touches the real machine's network.
 */
export interface PrivateHost {
  readonly name: string;
  readonly namespace: TestNamespace;
  /** Only with {@link HostOptions.world}. */
  readonly world: TestNamespace | undefined;
  readonly pods: readonly TestNamespace[];
  /** A temporary directory that goes with the host; short enough for unix sockets. */
  readonly directory: string;
  addPod(name?: string): TestNamespace;
  /** Unpins a pod's namespace, as a runtime does after DEL. */
  removePod(pod: TestNamespace): void;
  run(argv: readonly string[], options?: RunOptions): Promise<string>;
  start(argv: readonly string[], options?: ProcessOptions): RunningProcess;
  /** Runs at {@link close}, last deferred first. */
  defer(cleanup: () => unknown): void;
  /** Processes that live in the host, its world or its pods. */
  processes(): number[];
  /** Undoes everything in reverse, also after errors. @throws AggregateError with what could not be undone */
  close(): Promise<void>;
}

/** Addresses of the wire between host and world, and of what lies behind the world (on its `lo`). */
export const worldAddresses = {
  host: { ipv4: '192.0.2.10', ipv6: '2001:db8:2::10' },
  world: { ipv4: '192.0.2.1', ipv6: '2001:db8:2::1' },
  beyond: { ipv4: '198.51.100.1', ipv6: '2001:db8:51::1' },
} as const;

let created = 0;

/** Makes a private host. Needs root. Call `close` in an `after` hook; an exit of the process cleans up as well. */
export async function createPrivateHost(options: HostOptions = {}): Promise<PrivateHost> {
  exitOnSignals();
  await warmThreadPool();
  created += 1;
  const name = `pwt-${process.pid}-${created}${options.name === undefined ? '' : `-${options.name}`}`;
  const host = assembleHost(name, options.world !== undefined && options.world !== false);
  try {
    await host.namespace.ip('link set lo up');
    if (host.world !== undefined) {
      await joinWorld(
        host.namespace,
        host.world,
        options.world === true ? {} : (options.world as WorldOptions),
      );
    }
  } catch (error) {
    await host.close();
    throw error;
  }
  return host;
}

function assembleHost(name: string, withWorld: boolean): PrivateHost {
  const cleanups: (() => unknown)[] = [];
  const pods: TestNamespace[] = [];
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-'));
  leftOnExit.add(directory);
  const namespace = createTestNamespace(name);
  const world = withWorld ? createTestNamespace(`${name}-w`) : undefined;
  let counter = 0;
  const processes = (): number[] =>
    processesIn(
      new Set([namespace, ...(world === undefined ? [] : [world]), ...pods].map((one) => one.inode)),
    );
  return {
    name,
    namespace,
    world,
    pods,
    directory,
    processes,
    run: (argv, runOptions) => namespace.run(argv, runOptions),
    start: (argv, startOptions) => namespace.start(argv, startOptions),
    addPod: (podName) => {
      counter += 1;
      const pod = createTestNamespace(`${name}-${podName ?? `p${counter}`}`);
      pods.push(pod);
      return pod;
    },
    removePod: (pod) => {
      pods.splice(pods.indexOf(pod), 1);
      pod.delete();
    },
    defer: (cleanup) => cleanups.push(cleanup),
    close: async () => {
      const undo: (() => unknown)[] = [
        () => removeTreeSync(directory),
        () => leftOnExit.delete(directory),
        () => namespace.delete(),
        () => world?.delete(),
        () => pods.splice(0).forEach((pod) => pod.delete()),
        // Only what lives in these namespaces: every such process descends from a test of this host.
        () => processes().forEach((pid) => killQuietly(pid)),
        ...cleanups.splice(0),
      ];
      await runAll(undo.reverse());
    },
  };
}

async function runAll(steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'));
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function joinWorld(host: TestNamespace, world: TestNamespace, options: WorldOptions): Promise<void> {
  const { mtu = 1500, ipv4 = true, ipv6 = true, defaultRoute = true } = options;
  const { host: here, world: there, beyond } = worldAddresses;
  const route = (family: 'ipv4' | 'ipv6'): string[] =>
    defaultRoute ? [`route add default via ${there[family]}`] : [];
  await host.ip(
    `link add eth0 mtu ${mtu} type veth peer name eth0 mtu ${mtu} netns ${world.name}`,
    ...upWithLinkLocal('fe80::10'),
  );
  await world.ip(
    'link set lo up',
    ...upWithLinkLocal('fe80::1'),
    ...(ipv4 ? [`addr add ${there.ipv4}/24 dev eth0`, `addr add ${beyond.ipv4}/32 dev lo`] : []),
    ...(ipv6 ? [`addr add ${there.ipv6}/64 dev eth0 nodad`, `addr add ${beyond.ipv6}/128 dev lo nodad`] : []),
  );
  await host.ip(
    ...(ipv4 ? [`addr add ${here.ipv4}/24 dev eth0`, ...route('ipv4')] : []),
    ...(ipv6 ? [`addr add ${here.ipv6}/64 dev eth0 nodad`, ...route('ipv6')] : []),
  );
  await untilLocal(host, 'fe80::10', ...(ipv6 ? [here.ipv6] : []));
  await untilLocal(world, 'fe80::1', ...(ipv6 ? [there.ipv6, beyond.ipv6] : []));
}

/**
 * The kernel's worker gives an IPv6 address its local route a moment later (addrconf_dad_work), also one that skips duplicate address
 * detection; that of multicast comes with the carrier. A snapshot before that would lack them.
 */
async function untilLocal(namespace: TestNamespace, ...addresses: readonly string[]): Promise<void> {
  await until(
    `the routes of ${addresses.join(' ')}`,
    async () => {
      const output = await namespace.run(['ip', '-json', '-6', 'route', 'show', 'table', 'local']);
      const found = new Set((JSON.parse(output) as { dst: string }[]).map(({ dst }) => dst));
      return [...addresses, 'ff00::/8'].every((one) => found.has(one));
    },
    { interval: 1 },
  );
}

/** By hand: the kernel's own address comes a moment later, is unusable for a second, and would disturb snapshots. */
function upWithLinkLocal(address: string): string[] {
  return [
    'link set eth0 addrgenmode none',
    'link set eth0 up',
    `addr add ${address}/64 dev eth0 scope link nodad`,
  ];
}

const leftOnExit = new Set<string>();
let signalsHandled = false;

/** A test runner ends a test file with SIGTERM; `exit` hooks run only if a handler turns that into an exit. */
export function exitOnSignals(): void {
  if (signalsHandled) return;
  signalsHandled = true;
  process.on('exit', () => leftOnExit.forEach(removeTreeSync));
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ] as const) {
    if (process.listenerCount(signal) === 0) process.once(signal, () => process.exit(128 + number));
  }
}
