import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestNamespace } from '../namespaces.js';
import { exitOnSignals } from '../private-host.js';
import { run, start } from '../processes.js';
import { createAuthority, type CertificateAuthority } from './certificates.js';
import { createControl } from './control.js';
import { createMember, type EtcdMember, type MemberPlan } from './member.js';
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

/** What a client needs: has the shape of a store's configuration. */
export interface EtcdSpec {
  readonly kind: 'etcd';
  readonly endpoints: readonly string[];
  readonly tls?: { readonly ca: string; readonly certificate: string; readonly key: string };
  readonly username?: string;
  readonly passwordFile?: string;
}

/** Real etcd, with data of its own that is gone after `close`. */
export interface Etcd {
  readonly spec: EtcdSpec;
  readonly members: readonly EtcdMember[];
  /** Certificates, passwords, data: a temporary directory, in memory where the machine can. */
  readonly directory: string;
  /** Only with {@link EtcdOptions.tls}: issues more certificates. */
  readonly authority: CertificateAuthority | undefined;
  /** etcdctl as root, past all code under test: `['get', 'key']`. @returns its output @throws CommandError */
  control(parameters: readonly string[]): Promise<string>;
  /** The member that leads now. */
  leader(): Promise<EtcdMember>;
  /** Makes all history up to now forgotten. */
  compact(): Promise<void>;
  /** Saves the data as they are. @returns a file for {@link restore} */
  backup(): Promise<string>;
  /** Ends all members and starts them with data as they were: revisions go back. */
  restore(file: string): Promise<void>;
  /** Ends everything and removes the data. */
  close(): Promise<void>;
}

const credentials = { root: 'root:test-root', username: 'podwire', password: 'test-password' };

/** Starts etcd 3.4 of Debian (etcd-server, etcd-client; openssl for TLS). Resolves when all members answer. */
export async function startEtcd(options: EtcdOptions = {}): Promise<Etcd> {
  const directory = createDirectory();
  const at = (name: string): string => path.join(directory, name);
  const address = options.address ?? '127.0.0.1';
  const authority = options.tls === true ? await createAuthority(directory) : undefined;
  const tls = authority === undefined ? undefined : await issueCertificates(authority, address);
  const plans = await planMembers(options, directory, address, tls?.flags ?? []);
  const endpoints = plans.map(({ endpoint }) => endpoint);
  const control = createControl({
    endpoints,
    tls: tls?.client,
    run: (argv, runOptions) =>
      options.namespace === undefined ? run(argv, runOptions) : options.namespace.run(argv, runOptions),
  });
  const spawn: typeof start = (argv, how) =>
    options.namespace === undefined ? start(argv, how) : options.namespace.start(argv, how);
  const members = plans.map((plan) =>
    createMember(plan, {
      spawn,
      untilReady: ({ endpoint }, signal) => control.untilHealthy(endpoint, signal),
    }),
  );
  const close = async (): Promise<void> => {
    await Promise.all(members.map((member) => member.kill9()));
    fs.rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    leftOnExit.delete(directory);
  };
  const startAll = async (): Promise<void> => void (await Promise.all(members.map((each) => each.start())));
  try {
    await startAll();
    if (options.auth === true) await control.enableAuth(credentials);
  } catch (error) {
    await close();
    throw error;
  }
  if (options.auth === true) fs.writeFileSync(at('password'), `${credentials.password}\n`, { mode: 0o600 });
  return {
    spec: {
      kind: 'etcd',
      endpoints,
      ...(tls !== undefined && { tls: tls.client }),
      ...(options.auth === true && { username: credentials.username, passwordFile: at('password') }),
    },
    members,
    directory,
    authority,
    control: (parameters) => control.run(parameters),
    leader: async () => {
      const endpoint = await control.leader();
      const found = members.find((member) => member.endpoint === endpoint);
      if (found === undefined) throw new Error(`${endpoint} leads, and is none of these`);
      return found;
    },
    compact: () => control.compact(),
    backup: async () => {
      const file = at(`backup-${Date.now()}`);
      await control.save(endpoints[0] ?? '', file);
      return file;
    },
    restore: async (file) => {
      await Promise.all(members.map((member) => member.kill9()));
      for (const plan of plans) {
        fs.rmSync(plan.dataDirectory, { recursive: true, force: true });
        await control.restore(file, plan.dataDirectory, plan.argv);
      }
      await startAll();
    },
    close,
  };
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
