import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { compact } from '@podwire/platform';
import type { TestNamespace } from '../namespaces.js';
import { exitOnSignals } from '../private-host.js';
import { run, start } from '../processes.js';
import { createAuthority, type CertificateAuthority } from './certificates.js';
import { EtcdControl } from './control.js';
import { createMember, type EtcdMember, type MemberPlan, type MemberEnvironment } from './member.js';
import { findPorts } from './ports.js';

export interface EtcdOptions {
  /** 1 when absent. */
  readonly members?: 1 | 3;
  /** Where the servers and etcdctl live; this process's own namespace, on free ports, when absent. */
  readonly namespace?: TestNamespace;
  /** An address of that namespace; 127.0.0.1 when absent. */
  readonly address?: string;
  /** https for clients, who must show a certificate of the same authority. */
  readonly tls?: boolean;
  /** Creates a user with access to all keys, and turns authentication on. */
  readonly auth?: boolean;
  /** When the database is full; etcd's own (2 GiB) when absent. */
  readonly quotaBytes?: number;
  /** More of etcd's command line, for every member. */
  readonly flags?: readonly string[];
}

/** Specification for a client: has the shape of a store's configuration. */
export interface EtcdSpec {
  readonly kind: 'etcd';
  readonly endpoints: readonly string[];
  readonly tls?: { readonly ca: string; readonly certificate: string; readonly key: string };
  readonly username?: string;
  readonly passwordFile?: string;
}

const credentials = { root: 'root:test-root', username: 'podwire', password: 'test-password' };

interface EtcdParts {
  readonly directory: string;
  readonly authority: CertificateAuthority | undefined;
  readonly tls: Tls | undefined;
  readonly plans: readonly MemberPlan[];
  readonly namespace: TestNamespace | undefined;
}

/** Real etcd, with data of its own that is gone after `close`. */
export class Etcd {
  readonly members: readonly EtcdMember[];
  /** Certificates, passwords, data: a temporary directory, in memory where the machine can. */
  readonly directory: string;
  /** Only with {@link EtcdOptions.tls}: issues more certificates. */
  readonly authority: CertificateAuthority | undefined;
  readonly #plans: readonly MemberPlan[];
  readonly #control: EtcdControl;
  #spec: EtcdSpec;

  /** Its members do not run yet. */
  constructor({ directory, authority, tls, plans, namespace }: EtcdParts) {
    const endpoints = plans.map(({ endpoint }) => endpoint);
    this.directory = directory;
    this.authority = authority;
    this.#plans = plans;
    this.#spec = { kind: 'etcd', endpoints, ...compact({ tls: tls?.client }) };
    this.#control = new EtcdControl({
      endpoints,
      tls: tls?.client,
      run: (argv, options) => (namespace === undefined ? run(argv, options) : namespace.run(argv, options)),
    });
    const spawn: typeof start = (argv, how) =>
      namespace === undefined ? start(argv, how) : namespace.start(argv, how);
    const untilReady: MemberEnvironment['untilReady'] = ({ endpoint }, signal) =>
      this.#control.untilHealthy(endpoint, signal);
    this.members = plans.map((plan) => createMember(plan, { spawn, untilReady }));
  }

  /** For clients. */
  get spec(): EtcdSpec {
    return this.#spec;
  }

  async start(): Promise<void> {
    await Promise.all(this.members.map((member) => member.start()));
  }

  /** Creates a user with access to all keys, and turns authentication on. */
  async enableAuth(): Promise<void> {
    await this.#control.enableAuth(credentials);
    const passwordFile = path.join(this.directory, 'password');
    fs.writeFileSync(passwordFile, `${credentials.password}\n`, { mode: 0o600 });
    this.#spec = { ...this.#spec, username: credentials.username, passwordFile };
  }

  /** etcdctl as root, past all code under test: `['get', 'key']`. @returns its output @throws CommandError */
  control(parameters: readonly string[]): Promise<string> {
    return this.#control.run(parameters);
  }

  /** The member that leads now. */
  async leader(): Promise<EtcdMember> {
    const endpoint = await this.#control.leader();
    const found = this.members.find((member) => member.endpoint === endpoint);
    if (found === undefined) throw new Error(`${endpoint} leads, and is none of these`);
    return found;
  }

  /** Makes all history up to now forgotten. */
  compact(): Promise<void> {
    return this.#control.compact();
  }

  /** Saves the data as they are. @returns a file for {@link restore} */
  async backup(): Promise<string> {
    const file = path.join(this.directory, `backup-${Date.now()}`);
    await this.#control.save(this.#spec.endpoints[0] ?? '', file);
    return file;
  }

  /** Ends all members and starts them with data as they were: revisions go back. */
  async restore(file: string): Promise<void> {
    await this.#kill();
    for (const { dataDirectory, argv } of this.#plans) {
      fs.rmSync(dataDirectory, { recursive: true, force: true });
      await this.#control.restore(file, dataDirectory, argv);
    }
    await this.start();
  }

  /** Ends everything and removes the data. */
  async close(): Promise<void> {
    await this.#kill();
    fs.rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
    leftOnExit.delete(this.directory);
  }

  async #kill(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill9()));
  }
}

/** Starts etcd 3.4 of Debian (etcd-server, etcd-client; openssl for TLS). Resolves when all members answer. */
export async function startEtcd(options: EtcdOptions = {}): Promise<Etcd> {
  const { address = '127.0.0.1', namespace } = options;
  const directory = createDirectory();
  const authority = options.tls === true ? await createAuthority(directory) : undefined;
  const tls = authority === undefined ? undefined : await issueCertificates(authority, address);
  const plans = await planMembers(options, directory, address, tls?.flags ?? []);
  const etcd = new Etcd({ directory, authority, tls, plans, namespace });
  try {
    await etcd.start();
    if (options.auth === true) await etcd.enableAuth();
  } catch (error) {
    await etcd.close();
    throw error;
  }
  return etcd;
}

interface Tls {
  readonly client: { readonly ca: string; readonly certificate: string; readonly key: string };
  readonly flags: readonly string[];
}

async function issueCertificates(authority: CertificateAuthority, address: string): Promise<Tls> {
  const server = await authority.issue({ name: 'server', alternativeNames: [`IP:${address},DNS:etcd.test`] });
  const client = await authority.issue({ name: 'client' });
  return {
    client: { ca: authority.ca, ...client },
    flags: [
      ...['--cert-file', server.certificate, '--key-file', server.key],
      ...['--trusted-ca-file', authority.ca, '--client-cert-auth'],
    ],
  };
}

async function planMembers(
  { members = 1, namespace, tls = false, quotaBytes, flags = [] }: EtcdOptions,
  directory: string,
  address: string,
  tlsFlags: readonly string[],
): Promise<readonly MemberPlan[]> {
  // The test is alone in its namespace.
  const ports =
    namespace === undefined
      ? await findPorts(2 * members, address)
      : Array.from({ length: 2 * members }, (_, index) => 2379 + index);
  const scheme = tls ? 'https' : 'http';
  const named = Array.from({ length: members }, (_, index) => ({
    name: `member${index + 1}`,
    endpoint: `${scheme}://${address}:${ports[2 * index]}`,
    peer: `http://${address}:${ports[2 * index + 1]}`,
  }));
  const cluster = named.map(({ name, peer }) => `${name}=${peer}`).join(',');
  return named.map(({ name, endpoint, peer }) => {
    const dataDirectory = path.join(directory, name);
    return {
      name,
      endpoint,
      dataDirectory,
      logFile: path.join(directory, `${name}.log`),
      argv: [
        ...['etcd', '--name', name, '--data-dir', dataDirectory, '--log-level', 'warn', '--logger', 'zap'],
        ...['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', cluster, '--initial-cluster-token', path.basename(directory)],
        ...(quotaBytes === undefined ? [] : ['--quota-backend-bytes', String(quotaBytes)]),
        ...tlsFlags,
        ...flags,
      ],
    };
  });
}

const leftOnExit = new Set<string>();

process.on('exit', () => leftOnExit.forEach((left) => fs.rmSync(left, { recursive: true, force: true })));

/** In memory: etcd waits for the disk at every write, and this version has no way to be told not to. */
function createDirectory(): string {
  exitOnSignals();
  const parent = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
  const directory = fs.mkdtempSync(path.join(parent, 'pwt-etcd-'));
  leftOnExit.add(directory);
  return directory;
}
