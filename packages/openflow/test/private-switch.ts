/** A real Open vSwitch with everything of its own: database, sockets, directory, and the datapath in its process. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { openSwitch, type SwitchConnection } from '@podwire/openflow';
import { run, start, type RunningProcess } from '@podwire/testkit';

export interface PrivateSwitch {
  /** The management socket of its bridge `br0`. */
  readonly socket: string;
  /** Carries out ovs-ofctl with OpenFlow 1.4; `BRIDGE` among the arguments means the socket. */
  ofctl(args: readonly string[], input?: string): Promise<string>;
  /** Asks ovs-vswitchd by ovs-appctl. */
  appctl(...args: string[]): Promise<string>;
  vsctl(...args: string[]): Promise<string>;
  close(): Promise<void>;
}

const schema = '/usr/share/openvswitch/vswitch.ovsschema';

const ports = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((number) => [
  ...['--', 'add-port', 'br0', `p${number}`],
  ...['--', 'set', 'Interface', `p${number}`, 'type=dummy', `ofport_request=${number}`],
]);
const bridge = [
  ...['add-br', 'br0', '--', 'set', 'Bridge', 'br0', 'datapath_type=dummy', 'fail_mode=secure'],
  ...['protocols=OpenFlow10,OpenFlow14', ...ports],
];

/**
 * Starts one with a bridge `br0` and ports `p1` to `p9` of the same numbers. The kind `dummy` of datapath and ports is
 * that of Open vSwitch's own tests: packets go through the userspace datapath, and no interface is made.
 */
export async function startPrivateSwitch(): Promise<PrivateSwitch> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-ovs-'));
  const daemons: RunningProcess[] = [];
  const close = async (): Promise<void> => {
    // A program that is missing rejects; the other one is stopped all the same.
    await Promise.allSettled(daemons.map((daemon) => daemon.stop()));
    fs.rmSync(directory, { recursive: true });
  };
  try {
    return { ...(await startIn(directory, daemons)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface UsedSwitch {
  real: PrivateSwitch;
  connection: SwitchConnection;
}

/**
 * For the tests of a file: starts a switch with a connection to its bridge before them, and ends both after them.
 * @param prepare is part of the start: two hooks of a file may run side by side
 */
export function useSwitch(prepare?: (real: PrivateSwitch) => Promise<unknown>): UsedSwitch {
  const used = {} as UsedSwitch;
  before(async () => {
    used.real = await startPrivateSwitch();
    used.connection = await openSwitch(used.real.socket);
    await prepare?.(used.real);
  });
  after(async () => {
    // A start that has failed leaves them out.
    const { connection, real } = used as Partial<UsedSwitch>;
    connection?.close();
    await real?.close();
  });
  return used;
}

async function startIn(directory: string, daemons: RunningProcess[]): Promise<Omit<PrivateSwitch, 'close'>> {
  const at = (name: string): string => path.join(directory, name);
  const env = { ...process.env, OVS_RUNDIR: directory, OVS_DBDIR: directory, OVS_LOGDIR: directory };
  const startDaemon = (name: string, argv: readonly string[]): void =>
    void daemons.push(
      start([...argv, `--unixctl=${at(`${name}.ctl`)}`], { env, outputFile: at(`${name}.log`) }),
    );
  const database = `unix:${at('db.sock')}`;
  // When one is missing, the error names it.
  for (const program of ['ovsdb-server', 'ovs-vswitchd']) await run([program, '--version'], { env });
  await run(['ovsdb-tool', 'create', at('conf.db'), schema], { env });
  startDaemon('db', ['ovsdb-server', `--remote=p${database}`, at('conf.db')]);
  // Waits for the socket of the database, and for ovs-vswitchd to have done what is asked.
  const vsctl = (...args: string[]): Promise<string> =>
    run(['ovs-vsctl', '--retry', `--db=${database}`, ...args], { env });
  await vsctl('--no-wait', 'init');
  // No datapath and no route of the machine is looked at: another Open vSwitch may have made it.
  const kinds = ['--enable-dummy', '--disable-system', '--disable-system-route'];
  startDaemon('vs', ['ovs-vswitchd', ...kinds, database]);
  await vsctl(...bridge);
  const socket = at('br0.mgmt');
  const target = (argument: string): string => (argument === 'BRIDGE' ? `unix:${socket}` : argument);
  return {
    socket,
    vsctl,
    ofctl: (args, input) =>
      run(
        ['ovs-ofctl', '-O', 'OpenFlow14', ...args.map(target)],
        input === undefined ? { env } : { env, input },
      ),
    appctl: (...args) => run(['ovs-appctl', '-t', at('vs.ctl'), ...args], { env }),
  };
}
