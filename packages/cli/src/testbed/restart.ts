/** `podwire testbed restart`. */
import { PodwireError } from '@podwire/errors';
import { type Daemon, openTestbed, type Testbed, type TestbedNode, type TestbedOvn } from '@podwire/testbed';
import { withInterrupt } from '../interrupt.js';
import { type Io, writeJson, writeLines } from '../io.js';
import { chooseTestbed } from './choose.js';
import type { CentralDaemon, DaemonName, NodeDaemon } from './daemon-names.js';

export interface RestartCall {
  /** Of the testbed. */
  readonly name: string | undefined;
  readonly daemon: DaemonName;
  /** SIGKILL; else it is asked to end. */
  readonly kill: boolean;
  readonly json: boolean;
}

/** Ends a daemon, and starts it again; one that has ended is started. When it resolves, the daemon serves. */
export async function restartDaemon(
  io: Io,
  { name, daemon: wanted, kill, json }: RestartCall,
): Promise<void> {
  const testbed = await openTestbed(await chooseTestbed(io, name));
  try {
    const { daemon, place } = findDaemon(testbed, wanted);
    const before = daemon.pid ?? null;
    await (kill ? daemon.kill9() : daemon.stop());
    await withInterrupt((signal) => daemon.start(signal));
    const pid = daemon.pid ?? null;
    if (json) return writeJson(io, { ...place, [wanted.what]: { before, pid } });
    const outcome = before === null ? 'had ended' : `${before} ${kill ? 'was killed' : 'has ended'}`;
    const whole = place.node === undefined ? wanted.what : `${wanted.what} of ${place.node}`;
    return writeLines(io, [`${whole}: ${outcome}, ${pid} serves`]);
  } finally {
    await testbed.release();
  }
}

const ofNode: Readonly<Record<NodeDaemon, (node: TestbedNode) => Daemon | undefined>> = {
  agent: ({ agent }) => agent,
  'ovs-vswitchd': ({ openVSwitch }) => openVSwitch?.daemon,
  'ovsdb-server': ({ openVSwitch }) => openVSwitch?.database,
  'ovn-controller': ({ ovnController }) => ovnController,
};

const ofCentre: Readonly<Record<CentralDaemon, (ovn: TestbedOvn) => Daemon>> = {
  northbound: ({ northbound }) => northbound.server,
  southbound: ({ southbound }) => southbound.server,
  'ovn-northd': ({ northd }) => northd,
  controller: ({ controller }) => controller,
};

interface Found {
  readonly daemon: Daemon;
  readonly place: { readonly node?: string };
}

function findDaemon(testbed: Testbed, wanted: DaemonName): Found {
  const node = wanted.node === undefined ? undefined : testbed.node(wanted.node);
  if (isOfNode(wanted)) {
    const daemon = ofNode[wanted.what](node!);
    return daemon === undefined ? refuse(wanted.node, wanted.what) : { daemon, place: { node: wanted.node } };
  }
  if (testbed.ovn === undefined) return refuse(`the testbed ${testbed.name}`, wanted.what);
  return { daemon: ofCentre[wanted.what](testbed.ovn), place: {} };
}

const isOfNode = (name: DaemonName): name is Extract<DaemonName, { readonly what: NodeDaemon }> =>
  name.what in ofNode;

const models: Readonly<Partial<Record<DaemonName['what'], string>>> = {
  'ovs-vswitchd': 'models sdn and ovn',
  'ovsdb-server': 'models sdn and ovn',
};

function refuse(place: string, what: DaemonName['what']): never {
  const message = `${place} has no ${what}: it is of the ${models[what] ?? 'model ovn'}`;
  throw new PodwireError('TESTBED_FAILED', message, { action: null });
}
