/** A real Open vSwitch with everything of its own: database, sockets, directory, and the datapath in its process. */
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
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

/** Resolves when a file is there: daemons make their sockets when they are ready. */
async function appears(file: string, daemon: RunningProcess): Promise<void> {
  const watcher = fs.watch(path.dirname(file));
  try {
    while (!fs.existsSync(file)) {
      const ended = daemon.exited.then(() => Promise.reject(new Error(`it ended: ${daemon.stderr()}`)));
      await Promise.race([once(watcher, 'change'), ended]);
    }
  } finally {
    watcher.close();
  }
}

/**
 * Starts one with a bridge `br0` and ports `p1` to `p9` of the same numbers. The kind `dummy` of datapath and ports is
 * that of Open vSwitch's own tests: packets go through the userspace datapath, and no interface is made.
 */
export async function startPrivateSwitch(): Promise<PrivateSwitch> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-ovs-'));
  const at = (name: string): string => path.join(directory, name);
  const env = { ...process.env, OVS_RUNDIR: directory, OVS_DBDIR: directory, OVS_LOGDIR: directory };
  const database = `unix:${at('db.sock')}`;
  await run(['ovsdb-tool', 'create', at('conf.db'), schema], { env });
  const server = start(
    ['ovsdb-server', `--remote=p${database}`, `--unixctl=${at('db.ctl')}`, at('conf.db')],
    { env, outputFile: at('db.log') },
  );
  await appears(at('db.sock'), server);
  const vsctl = (...args: string[]): Promise<string> =>
    run(['ovs-vsctl', `--db=${database}`, ...args], { env });
  await vsctl('--no-wait', 'init');
  const daemon = start(['ovs-vswitchd', '--enable-dummy', `--unixctl=${at('vs.ctl')}`, database], {
    env,
    outputFile: at('vs.log'),
  });
  await appears(at('vs.ctl'), daemon);
  const ports = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((number) => [
    ...['--', 'add-port', 'br0', `p${number}`],
    ...['--', 'set', 'Interface', `p${number}`, 'type=dummy', `ofport_request=${number}`],
  ]);
  await vsctl(
    ...['add-br', 'br0', '--', 'set', 'Bridge', 'br0', 'datapath_type=dummy', 'fail_mode=secure'],
    ...['protocols=OpenFlow10,OpenFlow14', ...ports],
  );
  const socket = at('br0.mgmt');
  return {
    socket,
    vsctl,
    ofctl: (args, input) =>
      run(
        [
          'ovs-ofctl',
          '-O',
          'OpenFlow14',
          ...args.map((each) => (each === 'BRIDGE' ? `unix:${socket}` : each)),
        ],
        input === undefined ? { env } : { env, input },
      ),
    appctl: (...args) => run(['ovs-appctl', '-t', at('vs.ctl'), ...args], { env }),
    close: async () => {
      await daemon.stop();
      await server.stop();
      fs.rmSync(directory, { recursive: true });
    },
  };
}
