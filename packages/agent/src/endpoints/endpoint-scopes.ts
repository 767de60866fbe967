/** Endpoints as scopes: each is planned from its record, and applied by the request that works on it. */
import type { DesiredState } from '@podwire/desired-state';
import type { CallOptions, Engine } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import type { EndpointRecord } from '../records/record.js';
import { ownerOfEndpoint } from './owners.js';
import type { EndpointRegistry } from './registry.js';

declare module '@podwire/planner' {
  interface FactKinds {
    /** By the key of the endpoint. */
    endpoint: EndpointRecord | undefined;
  }
}

const kind = 'endpoint';
const scopeOf = ({ id }: Pick<EndpointRecord, 'id'>): string => `${kind}/${endpointKey(id)}`;

export class EndpointScopes {
  readonly #desired: DesiredState;
  readonly #endpoints: EndpointRegistry;

  constructor(desired: DesiredState, endpoints: EndpointRegistry) {
    this.#desired = desired;
    this.#endpoints = endpoints;
    desired.register<EndpointRecord>({
      kind,
      plan(key, read) {
        const record = read(`endpoint/${key}`);
        return record === undefined || record.phase === 'removing' ? undefined : record.resources;
      },
      ownerOf: ownerOfEndpoint,
      // A request writes its record itself, before its first change.
      memory: { read: (key) => endpoints.get(key) },
    });
  }

  /** Takes over the records of an earlier life. Whatever its phase, all of an endpoint may be in the kernel. */
  adopt(): void {
    const found = this.#endpoints
      .all()
      .map((record) => [endpointKey(record.id), { ...record, phase: 'ready' }] as const);
    this.#desired.adopt(kind, new Map(found));
  }

  /**
   * Makes the kernel have what the record wants: all of it or nothing. Of an endpoint that is removed, all goes that no other scope
   * wants; a call for it may be repeated.
   * @throws as `DesiredState.applyScope`
   */
  async apply(
    record: EndpointRecord,
    options: CallOptions & { readonly engine: Pick<Engine, 'change'> },
  ): Promise<void> {
    await this.#desired.applyScope(scopeOf(record), { ...options, namespace: record.namespace });
  }

  /** The record is gone, and the call that was to apply it has left nothing in the kernel. */
  noteUndone(record: EndpointRecord): void {
    this.#desired.noteUndone(scopeOf(record));
  }
}
