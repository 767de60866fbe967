/** A cluster for the benchmarks of policy: policies and pods of other nodes that are objects in the store and nothing else. */
import { type Keys, keysBelow, podFactsKind } from '@podwire/cluster-state';
import { type AnyObject, createStoreSource } from '@podwire/objects';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject, openStore, type Store } from '@podwire/store';
import type { ClusterHost } from '@podwire/testkit';

export const root = '/podwire';
/** All pods that are known, and the policies of replicas. */
export const homeNamespace = 'shop';
/** Known pods are in so many groups; a policy lets one of them in. */
const groups = 20;
const pairs = 40;

export interface ClusterContent {
  /** Pods of another node. */
  readonly pods: number;
  /** Each of these namespaces has so many policies that select its pods with `app: web`. */
  readonly namespaces: readonly string[];
  readonly policies: number;
}

/** Written by a client inside the machine's namespace: etcd listens nowhere else. */
export async function fillStore(
  host: Pick<ClusterHost, 'run'>,
  endpoints: readonly string[],
  content: ClusterContent,
  signal: AbortSignal,
): Promise<void> {
  const program = [process.execPath, import.meta.filename, endpoints.join(','), JSON.stringify(content)];
  await host.run(program, { timeout: 300_000, signal });
}

export const openEtcd = (endpoints: readonly string[]): Promise<Store> =>
  openStore({ kind: 'etcd', endpoints }, { log: silentLog, clock: systemClock });

export interface PolicySpec {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** Which group of the known pods may come; each namespace selects them with words of its own. */
  readonly group: number;
}

/** Lets a group of the known pods come to `app: web` on one port. */
export const allowGroup = ({ namespace, name, port, group }: PolicySpec): AnyObject =>
  ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace },
    spec: {
      podSelector: { matchLabels: { app: 'web' } },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [
            {
              namespaceSelector: {},
              podSelector: {
                matchExpressions: [{ key: 'team', operator: 'In', values: [`team-${group}`, namespace] }],
              },
            },
          ],
          ports: [{ protocol: 'TCP', port }],
        },
      ],
    },
  }) as AnyObject;

async function writePods(store: Store, keys: Keys, count: number): Promise<void> {
  for (let first = 0; first < count; first += pairs) {
    const writes = Array.from({ length: Math.min(pairs, count - first) }, (_, at) => {
      const [number, name] = [first + at, `pod-${first + at}`];
      const facts = {
        ...{ namespace: homeNamespace, name, node: 'far', ports: [] },
        labels: { team: `team-${number % groups}` },
        addresses: [`10.200.${number >> 8}.${number & 255}`],
      };
      return {
        op: 'put' as const,
        key: keys.podFacts('far', homeNamespace, name),
        value: encodeObject(podFactsKind, facts),
      };
    });
    await store.transact({ conditions: [], writes });
  }
}

async function writePolicies(store: Store, { namespaces, policies }: ClusterContent): Promise<void> {
  const source = createStoreSource({ store, root, clock: systemClock });
  for (const namespace of namespaces)
    await Promise.all(
      Array.from({ length: policies }, (_, index) =>
        source.save(
          allowGroup({ namespace, name: `policy-${index}`, port: 8_000 + index, group: index % groups }),
          undefined,
        ),
      ),
    );
}

if (process.argv[1] === import.meta.filename) {
  const [endpoints = '', content = '{}'] = process.argv.slice(2);
  const described = JSON.parse(content) as ClusterContent;
  const store = await openEtcd(endpoints.split(','));
  await writePods(store, keysBelow(root), described.pods);
  await writePolicies(store, described);
  await store.close();
}
