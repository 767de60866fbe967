/** Orders to etcd by Debian's etcdctl. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '../processes.js';

export interface ControlOptions {
  readonly endpoints: readonly string[];
  readonly tls: { readonly ca: string; readonly certificate: string; readonly key: string } | undefined;
  readonly run: (argv: readonly string[], options: RunOptions) => Promise<string>;
}

export interface Control {
  run(parameters: readonly string[]): Promise<string>;
  /** Asks one member until it answers, which takes a leader. */
  untilHealthy(endpoint: string, signal: AbortSignal): Promise<void>;
  enableAuth(credentials: Credentials): Promise<void>;
  /** @returns the endpoint of the member that leads, as soon as one does. @throws Error after half a minute without */
  leader(): Promise<string>;
  compact(): Promise<void>;
  save(endpoint: string, file: string): Promise<void>;
  /** @param etcd the command line of the member whose data these will be */
  restore(file: string, dataDirectory: string, etcd: readonly string[]): Promise<void>;
}

export interface Credentials {
  /** `root:PASSWORD` */
  readonly root: string;
  readonly username: string;
  readonly password: string;
}

interface Status {
  readonly Endpoint: string;
  readonly Status: {
    readonly leader: number;
    readonly header: { readonly member_id: number; readonly revision: number };
  };
}

export function createControl({ endpoints, tls, run }: ControlOptions): Control {
  let user: string | undefined;
  const certificates =
    tls === undefined ? [] : ['--cacert', tls.ca, '--cert', tls.certificate, '--key', tls.key];
  const order = (to: readonly string[], parameters: readonly string[], options: RunOptions = {}) =>
    run(
      [
        ...['etcdctl', '--endpoints', to.join(','), ...certificates],
        ...['--dial-timeout', '20s', '--command-timeout', '20s', ...parameters],
      ],
      {
        ...options,
        env: { ...process.env, ETCDCTL_API: '3', ...(user !== undefined && { ETCDCTL_USER: user }) },
      },
    );
  const statuses = async (): Promise<readonly Status[]> => {
    // One at a time: a single member that is down would make the whole answer an error.
    const answers = await Promise.allSettled(
      endpoints.map((endpoint) =>
        order(
          [endpoint],
          ['--command-timeout', '2s', '--dial-timeout', '2s', 'endpoint', 'status', '-w', 'json'],
        ),
      ),
    );
    return answers.flatMap((each) =>
      each.status === 'fulfilled' ? (JSON.parse(each.value) as Status[]) : [],
    );
  };
  return {
    run: (parameters) => order(endpoints, parameters),
    untilHealthy: async (endpoint, signal) => {
      await order([endpoint], ['endpoint', 'health'], { signal });
    },
    enableAuth: async ({ root, username, password }) => {
      const orders = [
        ['user', 'add', root],
        ['user', 'grant-role', 'root', 'root'],
        ['role', 'add', 'all'],
        ['role', 'grant-permission', 'all', '--from-key', 'readwrite', ''],
        ['user', 'add', `${username}:${password}`],
        ['user', 'grant-role', username, 'all'],
        ['auth', 'enable'],
      ];
      for (const parameters of orders) await order(endpoints, parameters);
      user = root;
    },
    leader: async () => {
      for (const end = performance.now() + 30_000; performance.now() < end; await delay(100)) {
        const all = await statuses();
        const found = all.find(({ Status: status }) => status.leader === status.header.member_id);
        if (found !== undefined) return found.Endpoint;
      }
      throw new Error('no member of etcd leads');
    },
    compact: async () => {
      const revision = Math.max(...(await statuses()).map(({ Status: status }) => status.header.revision));
      await order(endpoints, ['compact', '--physical', String(revision)]);
    },
    save: async (endpoint, file) => void (await order([endpoint], ['snapshot', 'save', file])),
    restore: async (file, dataDirectory, etcd) => {
      const flags = [
        '--name',
        '--initial-cluster',
        '--initial-cluster-token',
        '--initial-advertise-peer-urls',
      ];
      const same = flags.flatMap((flag) => [flag, etcd[etcd.indexOf(flag) + 1] ?? '']);
      await order(endpoints, ['snapshot', 'restore', file, '--data-dir', dataDirectory, ...same]);
    },
  };
}
