import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '../processes.js';

export interface ControlOptions {
  readonly endpoints: readonly string[];
  readonly tls: { readonly ca: string; readonly certificate: string; readonly key: string } | undefined;
  readonly run: (argv: readonly string[], options: RunOptions) => Promise<string>;
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

/** Orders to a cluster by Debian's etcdctl. */
export class EtcdControl {
  readonly #options: ControlOptions;
  readonly #certificates: readonly string[];
  #user: string | undefined;

  constructor(options: ControlOptions) {
    const { tls } = options;
    this.#options = options;
    this.#certificates =
      tls === undefined ? [] : ['--cacert', tls.ca, '--cert', tls.certificate, '--key', tls.key];
  }

  run(parameters: readonly string[]): Promise<string> {
    return this.#order(this.#options.endpoints, parameters);
  }

  /** Asks one member until it answers, which takes a leader. */
  async untilHealthy(endpoint: string, signal: AbortSignal): Promise<void> {
    await this.#order([endpoint], ['endpoint', 'health'], { signal });
  }

  async enableAuth({ root, username, password }: Credentials): Promise<void> {
    const orders = [
      ['user', 'add', root],
      ['user', 'grant-role', 'root', 'root'],
      ['role', 'add', 'all'],
      ['role', 'grant-permission', 'all', '--from-key', 'readwrite', ''],
      ['user', 'add', `${username}:${password}`],
      ['user', 'grant-role', username, 'all'],
      ['auth', 'enable'],
    ];
    for (const parameters of orders) await this.run(parameters);
    this.#user = root;
  }

  /** @returns the endpoint of the member that leads, as soon as one does. @throws Error after half a minute without */
  async leader(): Promise<string> {
    for (const end = performance.now() + 30_000; performance.now() < end; await delay(100)) {
      const all = await this.#statuses();
      const found = all.find(({ Status: status }) => status.leader === status.header.member_id);
      if (found !== undefined) return found.Endpoint;
    }
    throw new Error('no member of etcd leads');
  }

  async compact(): Promise<void> {
    const statuses = await this.#statuses();
    const revision = Math.max(...statuses.map(({ Status: status }) => status.header.revision));
    await this.run(['compact', '--physical', String(revision)]);
  }

  async save(endpoint: string, file: string): Promise<void> {
    await this.#order([endpoint], ['snapshot', 'save', file]);
  }

  /** @param etcd the command line of the member whose data these will be */
  async restore(file: string, dataDirectory: string, etcd: readonly string[]): Promise<void> {
    const flags = ['--name', '--initial-cluster', '--initial-cluster-token', '--initial-advertise-peer-urls'];
    const same = flags.flatMap((flag) => [flag, etcd[etcd.indexOf(flag) + 1] ?? '']);
    await this.run(['snapshot', 'restore', file, '--data-dir', dataDirectory, ...same]);
  }

  #order(to: readonly string[], parameters: readonly string[], options: RunOptions = {}): Promise<string> {
    const argv = [
      ...['etcdctl', '--endpoints', to.join(','), ...this.#certificates],
      ...['--dial-timeout', '20s', '--command-timeout', '20s', ...parameters],
    ];
    const user = this.#user !== undefined && { ETCDCTL_USER: this.#user };
    return this.#options.run(argv, { ...options, env: { ...process.env, ETCDCTL_API: '3', ...user } });
  }

  /** One member at a time: a single one that is down would make the whole answer an error. */
  async #statuses(): Promise<readonly Status[]> {
    const flags = ['--command-timeout', '2s', '--dial-timeout', '2s', 'endpoint', 'status', '-w', 'json'];
    const answers = await Promise.allSettled(
      this.#options.endpoints.map((endpoint) => this.#order([endpoint], flags)),
    );
    return answers.flatMap((each) =>
      each.status === 'fulfilled' ? (JSON.parse(each.value) as Status[]) : [],
    );
  }
}
