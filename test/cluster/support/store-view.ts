/** Content of the store, past all code under test but the schemas: read with etcdctl. */
import { keysBelow } from '@podwire/cluster-state';
import { type ClusterSnapshot, decodeCluster } from '@podwire/cluster-ipam/operations';
import type { TestNamespace } from '@podwire/testkit';
import type { Etcd } from '@podwire/testkit/etcd';

export const keys = keysBelow('/podwire');

interface KeyValue {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: number;
}

const decode = (text = ''): string => Buffer.from(text, 'base64').toString();

export async function readStore(etcd: Etcd): Promise<ClusterSnapshot> {
  const answer = JSON.parse(
    await etcd.control(['get', '--prefix', `${keys.root}/`, '--write-out', 'json']),
  ) as { header: { revision: number }; kvs?: KeyValue[] };
  const items = (answer.kvs ?? []).map(({ key, value, mod_revision }) => ({
    key: decode(key),
    value: decode(value),
    revision: mod_revision,
  }));
  return decodeCluster(keys, { items, revision: answer.header.revision });
}

/** One change of one key, with when this process heard of it (wall clock, milliseconds). */
export interface Change {
  readonly at: number;
  readonly revision: number;
  readonly key: string;
  /** Undefined: deleted. */
  readonly value: string | undefined;
  readonly before: string | undefined;
}

export interface RunningWatch {
  changes(): readonly Change[];
  stop(): Promise<void>;
}

/** Every change below the root from now on, in order. */
export async function watchStore(etcd: Etcd, middle: TestNamespace): Promise<RunningWatch> {
  const changes: Change[] = [];
  const { endpoints } = etcd.spec;
  const from = (await readStore(etcd)).revision + 1;
  const process_ = middle.start(
    [
      ...['etcdctl', '--endpoints', endpoints.join(','), 'watch', '--prefix', '--prev-kv'],
      ...['--rev', String(from), '--write-out', 'json', `${keys.root}/`],
    ],
    { env: { ...process.env, ETCDCTL_API: '3' } },
  );
  let taken = 0;
  process_.child.stdout?.on('data', () => {
    const text = process_.stdout();
    const end = text.lastIndexOf('\n');
    if (end < taken) return;
    const lines = text.slice(taken, end).split('\n');
    taken = end + 1;
    for (const line of lines) if (line !== '') changes.push(...readChanges(line));
  });
  return {
    changes: () => changes,
    stop: async () => {
      process_.kill('SIGTERM');
      await process_.exited;
    },
  };
}

function readChanges(line: string): Change[] {
  const { Events: events = [] } = JSON.parse(line) as {
    Events?: { type?: number; kv: KeyValue; prev_kv?: KeyValue }[];
  };
  return events.map(({ type, kv, prev_kv }) => ({
    at: Date.now(),
    revision: kv.mod_revision,
    key: decode(kv.key),
    value: type === 1 ? undefined : decode(kv.value),
    before: prev_kv === undefined ? undefined : decode(prev_kv.value),
  }));
}
