/** Facts by which a node says how its provider networks are. */
import type { NodeNow, NodeView, ScopeState } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { expect, test } from 'vitest';
import { createOvnModel } from '../src/index.js';
import { optionsSchema } from '../src/options.js';

const model = createOvnModel();

const view: NodeView = {
  ...{ name: 'one', blocks: [], mtu: 1400, ipv4: true, ipv6: true },
  network: { name: 'default', model: 'ovn', pools: [], options: optionsSchema.parse({}) },
};

/** @param states of networks that the node has, by name */
function publish(states: Readonly<Record<string, ScopeState>>, before: NodeNow['before'] = {}) {
  const byScope = new Map(Object.entries(states).map(([name, state]) => [`ovn-provider/${name}`, state]));
  return publishScopes(Object.keys(states), byScope, before);
}

/** @param names of networks, each with an interface of its own but for `twin`, which names that of net1 */
function publishScopes(
  names: readonly string[],
  byScope: ReadonlyMap<string, ScopeState>,
  before: NodeNow['before'] = {},
) {
  const known: Readonly<Record<string, unknown>> = {
    'sides-for-peers': [{ model, view }],
    'ovn-provider-networks': new Set(names),
    'host-link/to-net1': { mac: '02:00:00:00:00:01', mtu: 9000 },
    ...Object.fromEntries(
      names.map((name) => [
        `ovn-provider-network/${name}`,
        { interface: `to-${name === 'twin' ? 'net1' : name}`, custom: [], created: 0 },
      ]),
    ),
  };
  const read = ((name: string) => known[name]) as Read;
  return model.publish!(view, { read, stateOf: (scope) => byScope.get(scope)!, before });
}

test('a network is ready once it is in force, with the MTU of its interface, or has a problem', () => {
  const problem = 'provider network net2: this node has no interface eth1';
  expect(publish({ net1: 'in-force', net2: { problem } })).toEqual({
    'provider-network/net1': 'ready 9000',
    'provider-network/net2': problem,
  });
});

test('a network that is on its way is said to be as it was before, and a new one not at all', () => {
  const before = { 'provider-network/net1': 'ready', 'provider-network/gone': 'ready' };
  expect(publish({ net1: 'pending', net2: 'pending' }, before)).toEqual({ 'provider-network/net1': 'ready' });
});

test('a long problem is cut, and networks beyond the room of a node object are left out', () => {
  const problem = '"'.repeat(300);
  expect(publish({ net1: { problem } })['provider-network/net1']).toHaveLength(200);
  const many = Array.from({ length: 300 }, (_, at) => [`net${at}`, { problem }] as const);
  const published = publish(Object.fromEntries(many));
  expect(Object.keys(published).length).toBeGreaterThan(5);
  expect(JSON.stringify({ ovn: published }).length).toBeLessThan(4096);
});

test('a network whose interface is that of another one says so', () => {
  const problem = 'provider network twin: to-net1 is the interface of provider network net1';
  const states = new Map<string, ScopeState>([
    ['ovn-provider/net1', 'in-force'],
    ['ovn-provider-refused/twin', { problem }],
  ]);
  expect(publishScopes(['twin', 'net1'], states)).toEqual({
    'provider-network/net1': 'ready 9000',
    'provider-network/twin': problem,
  });
});
