/** Masters that take over from each other, over a store that loses requests and answers: nothing is handed out twice. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PodwireError } from '@podwire/errors';
import { silentLog } from '@podwire/platform';
import { createMemoryServer, type Fault } from '@podwire/store/memory';
import {
  calls,
  type Endpoint,
  leaderKey,
  objectKinds,
  planStart,
  readCluster,
  TenantMaster,
} from '../src/index.js';
import { endpointRequest, networkOf } from './support.js';

const clock = { now: () => 1_000, elapsed: () => 0, sleep: () => Promise.resolve() };
const lost = new AbortController().signal;

type Step =
  | { readonly type: 'elect' }
  | { readonly type: 'attach' | 'detach'; readonly container: string; readonly isOld: boolean };

const container = fc.constantFrom('c1', 'c2', 'c3');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ type: 'elect' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('attach' as const), container, isOld: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('detach' as const), container, isOld: fc.boolean() }),
  },
);
const faults = fc.array(
  fc.constantFrom<Fault | 'none'>(
    'none',
    'none',
    'none',
    'request-lost',
    'answer-lost',
    'conflict',
    'unavailable',
  ),
  { maxLength: 60 },
);

/** The endpoints that callers know of, and those that they cannot be sure of. */
class Known {
  readonly addresses = new Map<string, string>();
  readonly uncertain = new Set<string>();
}

class World {
  readonly server = createMemoryServer({ clock });
  readonly store = this.server.connect();
  readonly masters: TenantMaster[] = [];
  readonly #faults: (Fault | 'none')[];
  #isFaulty = false;

  constructor(planned: readonly (Fault | 'none')[]) {
    this.#faults = [...planned];
  }

  /** The one before goes on, as one that was stopped for a while would. */
  async elect(): Promise<void> {
    const fence = await this.store.put(leaderKey, `10.0.0.${this.masters.length}:9999`);
    const decide = (): Fault | undefined => {
      const fault = this.#isFaulty ? this.#faults.shift() : undefined;
      return fault === 'none' ? undefined : fault;
    };
    const store = this.server.connect({ decide });
    const guard = [{ key: leaderKey, expect: fence }];
    this.masters.push(new TenantMaster({ store, guard, deadline: 1_000, log: silentLog, lost }));
  }

  async begin(): Promise<void> {
    await this.elect();
    const [master] = this.masters;
    await master!.write((cluster) => planStart(cluster, {}));
    await master!.write((cluster) =>
      objectKinds.get('networks')!.planPut(cluster, 'default:web', networkOf({})),
    );
    this.#isFaulty = true;
  }

  async take(known: Known, each: Step): Promise<void> {
    if (each.type === 'elect') return this.elect();
    const { container: name, isOld } = each;
    const master = this.masters.at(isOld ? -2 : -1) ?? this.masters[0]!;
    try {
      await (each.type === 'attach' ? this.#attach(known, master, name) : this.#detach(known, master, name));
      known.uncertain.delete(name);
    } catch (error) {
      expect(error).toBeInstanceOf(PodwireError);
      expect((error as PodwireError).code).toMatch(/^STORE_(UNAVAILABLE|CONFLICT)$/);
      known.uncertain.add(name);
    }
  }

  async #attach(known: Known, master: TenantMaster, name: string): Promise<void> {
    const body = endpointRequest(name);
    const answer = await master.write((cluster) => calls.get('createEndpoint')!(cluster, body));
    const { ipAddress } = (answer as { EndpointConfig: Endpoint }).EndpointConfig;
    const before = known.addresses.get(name);
    // One that is sure to be there keeps its address.
    if (before !== undefined && !known.uncertain.has(name)) expect(ipAddress).toBe(before);
    known.addresses.set(name, ipAddress);
  }

  async #detach(known: Known, master: TenantMaster, name: string): Promise<void> {
    const ids = { TenantName: 'default', NetworkName: 'web', EndpointID: name };
    await master.write((cluster) => calls.get('deleteEndpoint')!(cluster, ids));
    known.addresses.delete(name);
  }
}

test('what callers were told is in the store, whatever is lost and however often the leader changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), faults, async (steps, planned) => {
      const world = new World(planned);
      await world.begin();
      const known = new Known();
      for (const each of steps) await world.take(known, each);
      const { cluster } = await readCluster(world.store, lost);
      const endpoints = [...cluster.table('endpoint').values()];
      expect(new Set(endpoints.map(({ ipAddress }) => ipAddress)).size).toBe(endpoints.length);
      for (const [name, address] of known.addresses)
        if (!known.uncertain.has(name))
          expect(cluster.table('endpoint').get(`web.default-${name}`)?.ipAddress).toBe(address);
      const { items } = await world.store.list('/contiv.io/state/nets/');
      expect(JSON.parse(items[0]!.value)).toMatchObject({ epCount: endpoints.length });
    }),
    { numRuns: 60 },
  );
});
