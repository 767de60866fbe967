/** A node of OVN: ovn-controller, and what the node's Open vSwitch has for it. */
import path from 'node:path';
import type { TestbedNamespace } from '../net/namespaces.js';
import type { NodePaths } from '../paths.js';
import type { OvnPrograms } from '../programs.js';
import type { OpenRecord } from '../record.js';
import { type Encapsulation, type PlannedNode, withoutLength } from '../shape.js';
import { createDaemon, type Daemon } from './daemon.js';
import { type Datapath, environmentOf } from './open-vswitch.js';
import { ovnEnvironmentOf } from './ovn.js';

const integrationBridge = 'br-int';
/** Milliseconds: many start at once on few processors. */
const patience = 30_000;

export interface Chassis {
  readonly node: Pick<PlannedNode, 'name' | 'addresses'>;
  /** Endpoint of the southbound database. */
  readonly southbound: string;
  readonly encapsulation: Encapsulation;
  readonly datapath: Datapath;
}

/** Words of ovs-vsctl: the bridge, and the external_ids of the table Open_vSwitch (ovn-controller(8)). Pure. */
export function chassisCommands({ node, southbound, encapsulation, datapath }: Chassis): string[] {
  const ids = {
    ...{ 'system-id': node.name, hostname: node.name, 'ovn-remote': southbound },
    ...{ 'ovn-encap-type': encapsulation, 'ovn-encap-ip': withoutLength(node.addresses.ipv4 ?? '') },
    'ovn-bridge-datapath-type': datapath,
  };
  return [
    ...['--', 'add-br', integrationBridge, '--', 'set', 'Bridge', integrationBridge],
    ...[`datapath_type=${datapath}`, 'fail_mode=secure', '--', 'set', 'Open_vSwitch', '.'],
    ...Object.entries(ids).map(([key, value]) => `external_ids:${key}="${value}"`),
  ];
}

export interface ChassisOptions {
  readonly node: Pick<PlannedNode, 'name'>;
  /** Endpoint of the southbound database. */
  readonly southbound: string;
  readonly paths: NodePaths;
  readonly record: OpenRecord;
  readonly namespace: TestbedNamespace;
  readonly programs: OvnPrograms;
}

/** After a start it is connected to the bridge, and the southbound database has its chassis. */
export function createOvnController(options: ChassisOptions): Daemon {
  const { node, southbound, paths, record, namespace, programs } = options;
  const { ovsRunDir } = paths;
  const flags = ['--no-chdir', '--verbose=console:info', '--pidfile'];
  const known = ['wait-until', 'Chassis_Private', node.name];
  return createDaemon({
    ...{ record, namespace, patience },
    what: `ovn-controller of ${node.name}`,
    env: { ...environmentOf(ovsRunDir), ...ovnEnvironmentOf(ovsRunDir), OVS_SYSCONFDIR: ovsRunDir },
    // Version 23.03 refuses --unixctl; its socket has the process id in its name.
    argv: [programs.controller, ...flags, `unix:${path.join(ovsRunDir, 'db.sock')}`],
    log: path.join(ovsRunDir, 'ovn-controller.log'),
    isReady: (log) => log.includes(`${integrationBridge}.mgmt: connected`),
    afterStart: async (signal) =>
      void (await namespace.run([programs.sbctl, `--db=${southbound}`, ...known], {
        ...{ signal, timeout: patience },
      })),
  });
}
