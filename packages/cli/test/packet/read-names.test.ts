import { expect, onTestFinished, test } from 'vitest';
import { openAgentApi } from '../../src/api/locate.js';
import { readAgentNames, readStoreNames } from '../../src/packet/read-names.js';
import { startFakeAgent } from '../support.js';
import { createNamedCluster } from './named-cluster.js';

test('the store has pods with their nodes, addresses of nodes and VNIDs', async () => {
  const { store } = await createNamedCluster();
  const { pods, nodes, projects } = await readStoreNames(store, '/podwire', new AbortController().signal);
  expect(pods).toContainEqual({ name: 'shop/db', node: 'n2', addresses: ['10.128.4.2'] });
  expect(nodes).toEqual([
    { name: 'n1', address: '192.0.2.1' },
    { name: 'n2', address: '192.0.2.2' },
  ]);
  expect(projects).toContainEqual({ name: 'shop', vnid: 42 });
});

test.each([
  ['in a cluster', { underlay: { ipv4: '192.0.2.1/24' } }, ['n1 192.0.2.1', 'n2 192.0.2.2']],
  ['alone', null, []],
])('an agent %s has its own pods, and addresses of nodes', async (_, cluster, addresses) => {
  const endpoint = { pod: { namespace: 'shop', name: 'web' }, addresses: ['10.128.2.2'] };
  const agent = await startFakeAgent({
    'GET /v1/status': { body: { node: 'n1', cluster } },
    'GET /v1/peers': { body: { peers: [{ name: 'n2', ipv4: '192.0.2.2/24' }, { name: 'n3' }] } },
    'GET /v1/endpoints': { body: { endpoints: [endpoint, { pod: {}, addresses: ['10.128.2.9'] }] } },
  });
  onTestFinished(() => agent.close());
  const names = await readAgentNames(openAgentApi({ socket: agent.socket }));
  expect(names).toMatchObject({
    source: 'the agent of node n1',
    pods: [{ name: 'shop/web', node: 'n1', addresses: ['10.128.2.2'] }],
    projects: [],
  });
  expect(names.nodes.map(({ name, address }) => `${name} ${address}`)).toEqual(addresses);
});
