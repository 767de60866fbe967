/** Open vSwitch of a node: servers and a database of its own, in the node's namespace. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { switchLinkFeature } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';
import { planUplink } from '../net/wiring.js';
import type { NodePaths } from '../paths.js';
import type { OpenVSwitchPrograms } from '../programs.js';
import type { OpenRecord } from '../record.js';
import type { PlannedNode } from '../shape.js';
import { createDaemon, type Daemon } from './daemon.js';

/** `system` is the kernel's. */
export type Datapath = 'system' | 'netdev';

export interface TestbedSwitch {
  readonly runDir: string;
  readonly database: Daemon;
  /** After `start` the node has its addresses again: without ovs-vswitchd no link of the datapath `netdev` is there. */
  readonly daemon: Daemon;
  /** Makes the database, and starts both. @throws PodwireError TESTBED_FAILED; the signal's reason */
  start(signal: AbortSignal): Promise<void>;
}

export interface SwitchOptions {
  readonly node: PlannedNode;
  readonly paths: NodePaths;
  readonly record: OpenRecord;
  readonly namespace: TestbedNamespace;
  readonly fabric: TestbedNamespace;
  readonly ip: string;
  readonly programs: OpenVSwitchPrograms;
  /** Words of ovs-vsctl for the new database, before ovs-vswitchd reads it. */
  readonly commands?: readonly string[];
}

/** Of Debian's openvswitch-switch. */
const schema = '/usr/share/openvswitch/vswitch.ovsschema';
/** Tunnels of the datapath `netdev` leave by a bridge that has the node's address. */
const uplinkBridge = 'br-ex';
/** Milliseconds: many start at once on few processors. */
const patience = 30_000;

/** The kernel's datapath where its module is loaded. */
export const chooseDatapath = (): Datapath =>
  fs.existsSync('/sys/module/openvswitch') ? 'system' : 'netdev';

export function createTestbedSwitch(options: SwitchOptions): TestbedSwitch {
  const { node, paths, record, namespace, programs, commands = [] } = options;
  const runDir = paths.ovsRunDir;
  const env = environmentOf(runDir);
  const common = ['--no-chdir', '--verbose=console:info', '--pidfile'];
  const socket = `unix:${runDir}/db.sock`;
  const place = { record, namespace, env, patience };
  const database = createDaemon({
    ...place,
    what: `ovsdb-server of ${node.name}`,
    argv: [programs.database, ...common, `--remote=p${socket}`, path.join(runDir, 'conf.db')],
    log: path.join(runDir, 'ovsdb-server.log'),
    isReady: (log) => log.includes('ovsdb-server (Open vSwitch)'),
  });
  const isNetdev = chooseDatapath() === 'netdev';
  const daemon = createDaemon({
    ...place,
    what: `ovs-vswitchd of ${node.name}`,
    argv: [programs.daemon, ...common, ...(isNetdev ? ['--disable-system'] : []), socket],
    log: path.join(runDir, 'ovs-vswitchd.log'),
    isReady: (log) => log.includes('ovs-vswitchd (Open vSwitch)'),
    ...(isNetdev ? { afterStart: (signal) => restoreUplink(options, signal) } : {}),
  });
  const run = (argv: readonly string[], signal: AbortSignal): Promise<string> =>
    namespace.run(argv, { signal, env, timeout: patience });
  const first = [...(isNetdev ? uplinkCommands : []), ...commands];
  return {
    ...{ runDir, database, daemon },
    async start(signal) {
      fs.mkdirSync(runDir, { recursive: true, mode: 0o700 });
      await run([programs.tool, 'create', path.join(runDir, 'conf.db'), schema], signal);
      await database.start(signal);
      await run([programs.vsctl, `--db=${socket}`, '--no-wait', '--', 'init', ...first], signal);
      await daemon.start(signal);
    },
  };
}

/** Programs of Open vSwitch find its sockets by this. */
export const environmentOf = (runDir: string): Readonly<Record<string, string>> => ({
  OVS_RUNDIR: runDir,
  OVS_DBDIR: runDir,
  OVS_LOGDIR: runDir,
});

const uplinkCommands = [
  ...['--', 'add-br', uplinkBridge, '--', 'set', 'Bridge', uplinkBridge, 'datapath_type=netdev'],
  ...['--', 'add-port', uplinkBridge, 'eth0'],
];

/** The node's own addresses are on a link of ovs-vswitchd, which is made anew with each of its starts. */
async function restoreUplink(
  { node, fabric, namespace, ip }: SwitchOptions,
  signal: AbortSignal,
): Promise<void> {
  // The switch passes packets on as it reads them, so that checksums must be complete by then.
  fabric.inside(() => switchLinkFeature(node.port, 'tx-checksumming', false));
  await untilThere(namespace, ip, signal);
  await namespace.run([ip, '-batch', '-'], {
    ...{ signal, input: `${planUplink(node, uplinkBridge).join('\n')}\n` },
  });
}

/** Milliseconds between two looks at the bridge that ovs-vswitchd makes. */
const lookEvery = 20;

async function untilThere(namespace: TestbedNamespace, ip: string, signal: AbortSignal): Promise<void> {
  const end = performance.now() + patience;
  for (;;) {
    signal.throwIfAborted();
    try {
      await namespace.run([ip, 'link', 'show', 'dev', uplinkBridge]);
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(lookEvery);
    }
  }
}
