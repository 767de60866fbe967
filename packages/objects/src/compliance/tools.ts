import assert from 'node:assert/strict';
import { PodwireError } from '@podwire/errors';
import type { AnyObject, ObjectBatch, ObjectChange, ObjectReference } from '../contract.js';
import type { NetworkPolicy, Vlan } from '../kinds/types.js';

/** Watches and what they wait for end after this many milliseconds: a case fails, it does not hang. */
export const patience = 20_000;

export const policy = (name: string, port = 80, namespace = 'default'): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace },
  spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ ports: [{ protocol: 'TCP', port }] }] },
});

export const policyReference = (name: string, namespace = 'default'): ObjectReference => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  namespace,
  name,
});

export const namespaceObject = (name: string, labels: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

/** A kind with a status, which controllers write. */
export const vlan = (name: string, id: number, status?: Vlan['status']): Vlan => ({
  apiVersion: 'kubeovn.io/v1',
  kind: 'Vlan',
  metadata: { name },
  spec: { id, provider: 'net1' },
  ...(status !== undefined && { status }),
});

/** Vlans need one. */
export const providerNetwork = (name: string): AnyObject & Record<string, unknown> => ({
  ...{ apiVersion: 'kubeovn.io/v1', kind: 'ProviderNetwork', metadata: { name } },
  spec: { defaultInterface: 'eth0' },
});

export async function rejectsAs(work: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(work, (error) => error instanceof PodwireError && error.code === code);
}

/** Changes that a watch has told, by name: the state that a reader would have. */
export interface Watched {
  readonly batches: readonly ObjectBatch[];
  /** Reads on until `isReached` says so of the latest state. */
  until(
    isReached: (state: ReadonlyMap<string, ObjectChange>) => boolean,
  ): Promise<ReadonlyMap<string, ObjectChange>>;
  end(): Promise<void>;
}

export function follow(watch: (signal: AbortSignal) => AsyncIterable<ObjectBatch>): Watched {
  const controller = new AbortController();
  const iterator = watch(AbortSignal.any([controller.signal, AbortSignal.timeout(patience)]))[
    Symbol.asyncIterator
  ]();
  const batches: ObjectBatch[] = [];
  const state = new Map<string, ObjectChange>();
  return {
    batches,
    async until(isReached) {
      while (batches.length === 0 || !isReached(state)) {
        const next = await iterator.next();
        if (next.done === true) assert.fail('the watch ended');
        batches.push(next.value);
        apply(state, next.value);
      }
      return state;
    },
    async end() {
      controller.abort();
      await iterator.next().catch(() => undefined);
    },
  };
}

function apply(state: Map<string, ObjectChange>, batch: ObjectBatch): void {
  if (batch.type === 'snapshot') {
    state.clear();
    for (const stored of batch.objects) state.set(stored.object.metadata.name, { type: 'put', stored });
    for (const unreadable of batch.unreadable)
      state.set(unreadable.reference.name, { type: 'unreadable', unreadable });
    return;
  }
  for (const change of batch.changes) state.set(nameOf(change), change);
}

function nameOf(change: ObjectChange): string {
  if (change.type === 'put') return change.stored.object.metadata.name;
  return change.type === 'delete' ? change.reference.name : change.unreadable.reference.name;
}
