/** The central part of OVN: two databases, ovn-northd between them, and the controller that writes the first. */
import fs from 'node:fs';
import path from 'node:path';
import { keysBelow } from '@podwire/cluster-state';
import type { TestbedNamespace } from '../net/namespaces.js';
import type { Programs, OpenVSwitchPrograms, OvnPrograms } from '../programs.js';
import type { OpenRecord } from '../record.js';
import { planOvnNetwork, type Shape, storeRoot } from '../shape.js';
import { createDaemon, type Daemon, type DaemonOptions } from './daemon.js';

export interface OvnDatabase {
  /** `unix:PATH`: sockets of files are the same in all network namespaces. */
  readonly endpoint: string;
  readonly server: Daemon;
}

export interface TestbedOvn {
  readonly northbound: OvnDatabase;
  readonly southbound: OvnDatabase;
  readonly northd: Daemon;
  /** `podwire controller --northbound`. */
  readonly controller: Daemon;
  /** Clients of OVN's databases find these by it, and ovn-appctl(8) finds ovn-northd. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes the databases, and starts all. @throws PodwireError TESTBED_FAILED; the signal's reason */
  start(signal: AbortSignal): Promise<void>;
}

export interface OvnOptions {
  readonly record: OpenRecord;
  /** Where etcd is. */
  readonly namespace: TestbedNamespace;
  readonly programs: Pick<Programs, 'podwire'> & {
    readonly ovn: OvnPrograms;
    readonly openVSwitch: OpenVSwitchPrograms;
  };
  /** For `podwire --store`. */
  readonly store: string;
}

/** Common to all daemons here. */
type Place = Pick<DaemonOptions, 'record' | 'namespace' | 'env' | 'patience'>;

/** Of Debian's ovn-common. */
const schemaOf = (name: 'nb' | 'sb'): string => `/usr/share/ovn/ovn-${name}.ovsschema`;
/** Milliseconds: many start at once on few processors. */
const patience = 30_000;
/** Until another controller leads, where one was killed. */
const lease = '5s';

const common = ['--no-chdir', '--verbose=console:info'];

export function createTestbedOvn(options: OvnOptions): TestbedOvn {
  const { record, namespace, programs } = options;
  const runDir = record.paths.ovnRunDir;
  const [northbound, southbound] = endpointsOf(runDir);
  const environment = { ...ovnEnvironmentOf(runDir), OVN_NB_DB: northbound, OVN_SB_DB: southbound };
  const place = { record, namespace, env: environment, patience };
  const servers = {
    northbound: createServer('northbound', 'nb', programs.openVSwitch, place),
    southbound: createServer('southbound', 'sb', programs.openVSwitch, place),
  };
  const northd = createNorthd(programs.ovn, [northbound, southbound], place);
  const controller = createController(options, northbound, place);
  return {
    northbound: { endpoint: northbound, server: servers.northbound },
    southbound: { endpoint: southbound, server: servers.southbound },
    ...{ northd, controller, environment },
    async start(signal) {
      fs.mkdirSync(runDir, { recursive: true, mode: 0o700 });
      for (const name of ['nb', 'sb'] as const) {
        const create = [programs.openVSwitch.tool, 'create', fileOf(runDir, name, 'db'), schemaOf(name)];
        await namespace.run(create, { signal, timeout: patience });
      }
      for (const daemon of [servers.northbound, servers.southbound, northd, controller])
        await daemon.start(signal);
      // Agents ask for the addresses of their nodes, which are in the subnet join.
      await namespace.run([programs.ovn.nbctl, `--db=${northbound}`, ...untilThere], {
        ...{ signal, timeout: patience },
      });
    },
  };
}

const untilThere = ['join', 'ovn-default'].flatMap((name) => ['--', 'wait-until', 'Logical_Switch', name]);

/** Programs of OVN find the sockets of its daemons by this. */
export const ovnEnvironmentOf = (runDir: string): Readonly<Record<string, string>> => ({
  OVN_RUNDIR: runDir,
  OVN_DBDIR: runDir,
  OVN_LOGDIR: runDir,
  OVN_SYSCONFDIR: runDir,
});

/** Named as Debian's OVN names them. */
const fileOf = (runDir: string, name: 'nb' | 'sb', ending: string): string =>
  path.join(runDir, `ovn${name}_db.${ending}`);

const endpointsOf = (runDir: string): readonly [northbound: string, southbound: string] => [
  `unix:${fileOf(runDir, 'nb', 'sock')}`,
  `unix:${fileOf(runDir, 'sb', 'sock')}`,
];

function createServer(
  what: string,
  name: 'nb' | 'sb',
  { database }: OpenVSwitchPrograms,
  place: Place,
): Daemon {
  const { ovnRunDir } = place.record.paths;
  const file = (ending: string): string => fileOf(ovnRunDir, name, ending);
  const control = [`--pidfile=${file('pid')}`, `--unixctl=${file('ctl')}`];
  return createDaemon({
    ...{ ...place, what, log: file('log') },
    argv: [database, ...common, ...control, `--remote=punix:${file('sock')}`, file('db')],
    isReady: (log) => log.includes('ovsdb-server (Open vSwitch)'),
  });
}

function createNorthd(
  { northd }: OvnPrograms,
  [northbound, southbound]: readonly string[],
  place: Place,
): Daemon {
  return createDaemon({
    ...{ ...place, what: 'ovn-northd', log: path.join(place.record.paths.ovnRunDir, 'ovn-northd.log') },
    argv: [northd, ...common, '--pidfile', `--ovnnb-db=${northbound}`, `--ovnsb-db=${southbound}`],
    isReady: (log) => log.includes('ovn-northd lock acquired'),
  });
}

function createController({ programs, store, record }: OvnOptions, northbound: string, place: Place): Daemon {
  const { paths, current } = record;
  const leads = JSON.stringify(keysBelow(storeRoot).ovnLeader);
  return createDaemon({
    ...{ ...place, what: 'controller', log: path.join(paths.ovnRunDir, 'controller.log') },
    env: { ...place.env, PODWIRE_LOG_LEVEL: 'info' },
    argv: [programs.podwire, 'controller', ...controllerOptions(current.shape, store, northbound)],
    isReady: (log) => log.split('\n').some((line) => line.includes(leads) && line.includes('"msg":"leads"')),
  });
}

function controllerOptions(shape: Shape, store: string, northbound: string): string[] {
  const { pods, join } = planOvnNetwork(shape);
  const { encapsulation = 'geneve' } = shape;
  return [
    ...['--name', 'testbed', '--store', store, '--northbound', northbound, '--lease', lease],
    ...['--pod-cidr', pods.join(), '--join-cidr', join.join(), '--encapsulation', encapsulation],
  ];
}
