/** Policy without a compiler and without a packet filter: what is known becomes one element for each link and each policy. */
import type { Resource } from '@podwire/engine';
import type { LinkChange, PolicyRenderer } from '@podwire/network-policy';
import type { ObjectBatch, StoredObject } from '@podwire/objects';
import type {
  CompiledDelta,
  CompiledEndpoint,
  CompiledState,
  InputChange,
  PolicyCompiler,
} from '@podwire/policy';
import { Translator } from '@podwire/policy';
import { AsyncQueue, type Clock, onAbort, systemClock } from '@podwire/platform';
import type { ConntrackCuts, PolicyWorld } from '../../src/policy/contract.js';

export interface FakePolicyWorld extends PolicyWorld {
  /** The objects of the source from now on; the first time makes policy known. */
  tell(objects: readonly StoredObject[], unreadable?: ObjectBatch & { type: 'snapshot' }): void;
  send(batch: ObjectBatch): void;
  /** All inputs that compilers have taken, in order. */
  readonly taken: InputChange[];
  /** Namespaces whose policies look at labels. */
  readonly labelled: Set<string>;
  /** Thrown by compilers while it is set. */
  compileError: Error | undefined;
}

export interface FakePolicyOptions {
  readonly clock?: Clock;
  readonly conntrack?: ConntrackCuts;
}

export function createPolicyWorld({
  clock = systemClock,
  conntrack,
}: FakePolicyOptions = {}): FakePolicyWorld {
  const watches = new Set<AsyncQueue<ObjectBatch>>();
  let revision = 0;
  let last: ObjectBatch | undefined;
  const world: FakePolicyWorld = {
    source: {
      name: 'directory /test',
      get: () => Promise.resolve(undefined),
      list: () => Promise.resolve({ objects: [], unreadable: [], revision }),
      save: () => Promise.reject(new Error('not here')),
      delete: () => Promise.reject(new Error('not here')),
      watch({ signal }) {
        const queue = new AsyncQueue<ObjectBatch>(() => watches.delete(queue));
        watches.add(queue);
        if (last !== undefined) queue.push(last);
        onAbort(signal, () => queue.end());
        return queue;
      },
    },
    taken: [],
    labelled: new Set(),
    compileError: undefined,
    clock,
    ...(conntrack === undefined ? {} : { conntrack }),
    createCompiler: () => createFakeCompiler(world),
    createRenderer: () => createFakeRenderer(),
    createTranslator: () => new Translator(),
    tell(objects) {
      world.send({ type: 'snapshot', objects, unreadable: [], revision: ++revision });
    },
    send(batch) {
      revision = batch.revision;
      if (batch.type === 'snapshot') last = batch;
      for (const watch of watches) watch.push(batch);
    },
  };
  return world;
}

function createFakeCompiler(world: FakePolicyWorld): PolicyCompiler {
  const endpoints = new Map<string, CompiledEndpoint>();
  const policies: CompiledState['policies'] = new Map();
  return {
    state: { sets: new Map(), policies, endpoints },
    inspect: () => undefined,
    dependsOnLabels: (namespace) => world.labelled.has(namespace),
    apply(changes): CompiledDelta {
      if (world.compileError !== undefined) throw world.compileError;
      world.taken.push(...changes);
      return {
        sets: [],
        setsRemoved: [],
        policies: changes.flatMap((change) =>
          change.topic === 'policy' && change.value !== undefined
            ? [
                {
                  id: change.key,
                  reference: change.value.reference,
                  tier: change.value.tier,
                  rank: { order: 1, name: change.key },
                  hostMode: 'normal' as const,
                },
              ]
            : [],
        ),
        policiesRemoved: changes.flatMap((change) =>
          change.topic === 'policy' && change.value === undefined ? [change.key] : [],
        ),
        endpoints: [],
        endpointsRemoved: [],
      };
    },
  };
}

export const linkElement = (link: string): Resource => element('links', link.slice(0, 15));
export const policyElement = (id: string): Resource => element('policies', id);

const element = (set: string, name: string): Resource => ({
  ...{ kind: 'nft-element', family: 'inet', table: 'podwire-policy', set },
  key: [{ type: 'ifname', value: name }],
});

function createFakeRenderer(): PolicyRenderer {
  const wanted = new Map<string, Resource>();
  const change = (add: Resource[], remove: Resource[]) => {
    for (const resource of remove) wanted.delete(JSON.stringify(resource));
    for (const resource of add) wanted.set(JSON.stringify(resource), resource);
    return { add, remove };
  };
  return {
    start: () => ({ add: [], remove: [] }),
    apply(delta, links: readonly LinkChange[]) {
      // The last word counts.
      const said = [...new Map(links.map((each) => [each.link, each])).values()];
      return change(
        [
          ...delta.policies.map(({ id }) => policyElement(id)),
          ...said.flatMap(({ link, value }) => (value === undefined ? [] : [linkElement(link)])),
        ],
        [
          ...delta.policiesRemoved.map(policyElement),
          ...said.flatMap(({ link, value }) => (value === undefined ? [linkElement(link)] : [])),
        ],
      );
    },
    get resources() {
      return [...wanted.values()];
    },
  };
}
