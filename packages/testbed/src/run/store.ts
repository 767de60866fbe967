/** The store that the nodes share. */
import http from 'node:http';
import { bracketHost } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import { silentLog, systemClock, withDeadline } from '@podwire/platform';
import { openStore, type Store, type StoreSpec } from '@podwire/store';
import type { TestbedNamespace } from '../net/namespaces.js';
import { connectFrom, type Door, openDoor } from '../net/sockets.js';
import type { OpenRecord } from '../record.js';
import { etcdPort, type FamilyAddresses, type StoreKind, withoutLength } from '../shape.js';
import { createDaemon, type Daemon } from './daemon.js';

export interface TestbedStore {
  readonly kind: StoreKind;
  /** `cluster.store` of an agent behind this gateway. */
  specFor(gateway: FamilyAddresses): StoreSpec;
  /** The same as a URL for `podwire --store`. */
  nameFor(gateway: FamilyAddresses): string;
  /** Opens a connection; the caller closes it. */
  open(): Promise<Store>;
  /** `http://127.0.0.1:PORT`: leads to etcd as long as this process lives. @throws PodwireError TESTBED_FAILED without a server */
  url(): Promise<string>;
  /** The server's process. @throws PodwireError TESTBED_FAILED for a store without a server */
  readonly server: Daemon;
  release(): Promise<void>;
}

export interface StoreOptions {
  readonly kind: StoreKind;
  readonly record: OpenRecord;
  /** Where etcd is. */
  readonly namespace: TestbedNamespace;
  readonly gateway: FamilyAddresses;
  readonly etcd: string | undefined;
}

export function createTestbedStore(options: StoreOptions): TestbedStore {
  return options.kind === 'embedded' ? createEmbedded(options) : createEtcd(options);
}

function createEmbedded({ record }: StoreOptions): TestbedStore {
  const spec = { kind: 'embedded', directory: record.paths.store } as const;
  const refusal = (): PodwireError => new PodwireError('TESTBED_FAILED', 'the embedded store has no server');
  return {
    kind: 'embedded',
    specFor: () => spec,
    nameFor: () => `embedded:${spec.directory}`,
    open: () => openStoreOf(spec),
    url: () => Promise.reject(refusal()),
    get server(): never {
      throw refusal();
    },
    release: () => Promise.resolve(),
  };
}

function createEtcd({ record, namespace, gateway, etcd = 'etcd' }: StoreOptions): TestbedStore {
  const address = hostOf(gateway);
  let door: Promise<Door> | undefined;
  const url = async (): Promise<string> => {
    door ??= openDoor(namespace, address, etcdPort);
    return `http://127.0.0.1:${(await door).port}`;
  };
  return {
    kind: 'etcd',
    specFor: (near) => ({ kind: 'etcd', endpoints: [urlOf(hostOf(near))] }),
    nameFor: (near) => urlOf(hostOf(near)).replace('http://', 'etcd://'),
    url,
    open: async () => openStoreOf({ kind: 'etcd', endpoints: [await url()] }),
    server: createDaemon({
      ...{ record, namespace, what: 'etcd', log: record.paths.storeLog, patience: 20_000 },
      argv: [etcd, ...etcdOptions(record.paths.store, urlOf(address), gateway)],
      isReady: (_, signal) => isHealthy(namespace, address, signal),
    }),
    release: async () => (await door)?.close(),
  };
}

const hostOf = ({ ipv4, ipv6 }: FamilyAddresses): string => withoutLength(ipv4 ?? ipv6 ?? '');
const urlOf = (host: string): string => `http://${bracketHost(host)}:${etcdPort}`;

function etcdOptions(data: string, url: string, { ipv6 }: FamilyAddresses): string[] {
  // `[::]` accepts IPv4 too; no other program runs in its namespace.
  const any = ipv6 === undefined ? '0.0.0.0' : '[::]';
  const peer = 'http://127.0.0.1:2380';
  return [
    ...['--name', 'testbed', '--data-dir', data],
    ...['--listen-client-urls', `http://${any}:${etcdPort}`, '--advertise-client-urls', url],
    ...[
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `testbed=${peer}`,
    ],
  ];
}

/** Milliseconds. */
const healthDeadline = 500;

/** The option `timeout` of a request only acts in the agent's own connections, and these are created here. */
const isHealthy = (namespace: TestbedNamespace, address: string, signal: AbortSignal): Promise<boolean> =>
  withDeadline(
    signal,
    healthDeadline,
    (either) =>
      new Promise((resolve) => {
        const createConnection = () => connectFrom(namespace, address, etcdPort);
        const fail = (): void => resolve(false);
        http
          .get({ path: '/health', signal: either, createConnection })
          .on('error', fail)
          .on('response', (response) => {
            response.resume().on('error', fail);
            response.once('end', () => resolve(response.statusCode === 200));
          });
      }),
  );

const openStoreOf = (spec: StoreSpec): Promise<Store> =>
  openStore(spec, { clock: systemClock, log: silentLog });
