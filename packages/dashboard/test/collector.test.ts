import { PodwireError } from '@podwire/errors';
import { systemClock } from '@podwire/platform';
import { expect, test } from 'vitest';
import { Collector } from '../src/collect/collector.js';
import type { ViewChange } from '../src/shapes.js';
import type { Asking, DashboardSources } from '../src/sources.js';
import { endpointOf, statusOf, wording } from './support.js';

const unreachable = (): Promise<never> =>
  Promise.reject(new PodwireError('AGENT_UNREACHABLE', 'no agent answers'));

function agentOf(answers: Readonly<Record<string, unknown>>): Asking {
  const get = <T>(path: string): Promise<T> => {
    const answer = answers[path.replace(/\?.*/, '')];
    return answer === undefined ? unreachable() : Promise.resolve(answer as T);
  };
  return { get, socket: '/x' };
}

const sourcesOf = (agent: Asking, more: Partial<DashboardSources> = {}): DashboardSources => ({
  ...{ title: 't', wording, nodes: [{ name: 'n1', agent }], readSpans: () => Promise.resolve([]) },
  ...more,
});

const { signal } = new AbortController();

test('an agent that does not answer is an error with what to do, and the page goes on', async () => {
  const collector = new Collector(sourcesOf(agentOf({})), systemClock);
  await collector.round(signal);
  const { nodes, errors } = collector.view;
  expect(nodes[0]).toMatchObject({ name: 'n1', state: 'no answer', level: 'bad' });
  expect(errors[0]).toMatchObject({ at: null, code: 'AGENT_UNREACHABLE', message: 'no agent answers' });
});

test('listeners are told what changed, and nothing when nothing did', async () => {
  const endpoints: object[] = [];
  const answers = { '/v1/status': statusOf(), '/v1/endpoints': { endpoints } };
  const collector = new Collector(sourcesOf(agentOf(answers)), systemClock);
  await collector.round(signal);
  const changes: ViewChange[] = [];
  const unsubscribe = collector.subscribe((change) => changes.push(change));
  await collector.round(signal);
  expect(changes).toEqual([]);
  endpoints.push(endpointOf());
  await collector.round(signal);
  expect(changes.map((change) => Object.keys(change))).toEqual([['nodes', 'pods']]);
  unsubscribe();
  endpoints.pop();
  await collector.round(signal);
  expect(changes).toHaveLength(1);
});

test('a store that does not answer is said, and what it said before stays', async () => {
  const shown = { pools: [], loans: [], outside: 0 };
  const node = {
    name: 'n2',
    state: 'ready' as const,
    addresses: {},
    labels: {},
    blocks: [],
    borrowed: [],
    inUse: 0,
  };
  let isAway = false;
  const readCluster = () =>
    isAway ? Promise.reject(new Error('connection refused')) : Promise.resolve({ nodes: [node], shown });
  let elapsed = 0;
  const clock = { ...systemClock, elapsed: () => (elapsed += 60_000) };
  const collector = new Collector(sourcesOf(agentOf({}), { readCluster }), clock);
  await collector.round(signal);
  isAway = true;
  await collector.round(signal);
  expect(collector.view.nodes.map(({ name }) => name)).toEqual(['n1', 'n2']);
  expect(collector.view.errors).toContainEqual(
    expect.objectContaining({ subject: 'store', message: 'connection refused' }),
  );
});

test('a pod that is not there has no details', async () => {
  const answers = { '/v1/status': statusOf(), '/v1/endpoints': { endpoints: [endpointOf()] } };
  const collector = new Collector(sourcesOf(agentOf(answers)), systemClock);
  await collector.round(signal);
  expect(await collector.podDetail('n1 shop/other u9')).toBeUndefined();
  expect(await collector.nodeDetail('n9')).toBeUndefined();
  const detail = await collector.podDetail(collector.view.pods[0]!.id);
  expect(detail?.notes).toEqual(['explain: no agent answers']);
  expect(detail?.path.map(({ title }) => title)).toEqual(['eth0', 'cali0123', 'routes', 'uplink']);
});
