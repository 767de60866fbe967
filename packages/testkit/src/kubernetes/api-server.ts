import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { PrivateHost } from '../private-host.js';
import type { RunningProcess } from '../processes.js';
import { kubernetesProgram } from './binaries.js';
import { openPortProxy } from './port-proxy.js';
import { createRestClient, type RestClient } from './rest.js';
import { until } from '../until.js';

export interface ApiServerOptions {
  /** Distinguishes servers of one host; `kubernetes` when absent. */
  readonly name?: string;
}

/** A real kube-apiserver with an etcd of its own, on the host's loopback. */
export interface ApiServer {
  readonly directory: string;
  /** As a cluster administrator, for this process. */
  readonly rest: RestClient;
  /** For the pod agent inside the host, with the rights that it needs and no others. */
  readonly kubeconfig: string;
  log(): string;
  /** Drops etcd's history up to now, so that no watch can go on from before: the server answers 410. */
  compact(): Promise<void>;
  kill9(): Promise<void>;
  start(): Promise<void>;
}

const ports = { etcd: 2379, peer: 2380, api: 6443 };
const token = 'podwire-test-administrator';
const nodeToken = 'podwire-test-node';

/** All that the pod agent may do: what its documentation says that it needs. */
const nodeRules = [
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch', 'delete'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
];

async function grantNodeRights(rest: RestClient): Promise<void> {
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  const metadata = { name: 'podwire-node' };
  await rest.post(`${roles}/clusterroles`, { metadata, rules: nodeRules });
  await rest.post(`${roles}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'node' }],
  });
}

/** Starts etcd and kube-apiserver 1.20.2 inside the host. Needs Debian's etcd-server. */
export async function startApiServer(host: PrivateHost, options: ApiServerOptions = {}): Promise<ApiServer> {
  const directory = path.join(host.directory, options.name ?? 'kubernetes');
  const at = (name: string): string => path.join(directory, name);
  fs.mkdirSync(directory, { mode: 0o700 });
  writeCredentials(directory);
  const etcd = host.start(etcdCommand(directory), { outputFile: at('etcd.log') });
  host.defer(() => etcd.stop());
  const etcdDoor = await openPortProxy(host, ports.etcd, 'plain');
  const etcdRest = createRestClient(etcdDoor.url);
  const describeEtcd = (): string => fs.readFileSync(at('etcd.log'), 'utf8').slice(-3000);
  await until('etcd', async () => (await etcdRest.call('GET', '/health')).status === 200, {
    describe: describeEtcd,
  });
  const proxy = await openPortProxy(host, ports.api, 'tls');
  const rest = createRestClient(proxy.url, token);
  const log = (): string => fs.readFileSync(at('api.log'), 'utf8');
  let current: RunningProcess | undefined;
  const start = async (): Promise<void> => {
    current = host.start(apiCommand(directory), { outputFile: at('api.log') });
    await until('the API server', async () => (await rest.call('GET', '/readyz')).status === 200, {
      describe: () => log().slice(-3000),
    });
    // It makes this namespace by itself, a moment after it is ready.
    await until(
      'the namespace default',
      async () => (await rest.call('GET', defaultNamespace)).status === 200,
    );
  };
  host.defer(() => current?.stop());
  await start();
  await grantNodeRights(rest);
  return {
    directory,
    rest,
    kubeconfig: at('kubeconfig'),
    log,
    compact: () => compact(etcdRest),
    start,
    kill9: async () => {
      current?.kill('SIGKILL');
      await current?.exited;
    },
  };
}

const defaultNamespace = '/api/v1/namespaces/default';

function writeCredentials(directory: string): void {
  const at = (name: string): string => path.join(directory, name);
  fs.writeFileSync(
    at('tokens.csv'),
    `${token},administrator,administrator,system:masters\n${nodeToken},node,node\n`,
    {
      mode: 0o600,
    },
  );
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  fs.writeFileSync(at('accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'node' } }],
    clusters: [
      {
        name: 'test',
        cluster: { server: `https://127.0.0.1:${ports.api}`, 'insecure-skip-tls-verify': true },
      },
    ],
    users: [{ name: 'node', user: { token: nodeToken } }],
  };
  fs.writeFileSync(at('kubeconfig'), JSON.stringify(kubeconfig), { mode: 0o600 });
}

function etcdCommand(directory: string): string[] {
  const [clients, peers] = [ports.etcd, ports.peer].map((port) => `http://127.0.0.1:${port}`) as [
    string,
    string,
  ];
  return [
    ...['etcd', '--data-dir', path.join(directory, 'etcd'), '--log-level', 'warn'],
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
    ...['--initial-cluster', `default=${peers}`],
  ];
}

function apiCommand(directory: string): string[] {
  const at = (name: string): string => path.join(directory, name);
  return [
    kubernetesProgram('kube-apiserver'),
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--bind-address=127.0.0.1',
    '--advertise-address=192.0.2.10',
    `--secure-port=${ports.api}`,
    `--cert-dir=${at('certificates')}`,
    `--token-auth-file=${at('tokens.csv')}`,
    `--service-account-key-file=${at('accounts.key')}`,
    `--service-account-signing-key-file=${at('accounts.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--authorization-mode=RBAC',
    // There is no controller that would make accounts.
    '--disable-admission-plugins=ServiceAccount',
  ];
}

/** etcd's own HTTP gateway: the revision of any answer is the latest. Numbers of 64 bits are strings in it. */
async function compact(etcd: RestClient): Promise<void> {
  const key = Buffer.from('\0').toString('base64');
  const { header } = await etcd.post<{ header: { revision: string } }>('/v3/kv/range', { key });
  await etcd.post('/v3/kv/compaction', { revision: header.revision, physical: true });
}
