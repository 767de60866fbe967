import { describe, expect, test } from 'vitest';
import { createHarness, createReadyHarness, type Harness, keyOf } from '../fakes/harness.js';
import { containing } from '../fakes/matchers.js';

const addresses = (agent: Harness): number => agent.context.networks[0]!.ipam.leases().length;
const k8s = (name: string): string => `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}`;
const network = (length: number) => ({ config: { name: 'n'.repeat(length) } });

describe('an ADD', () => {
  test.each([
    [{ ifName: 'eth%d' }, 'percent sign'],
    [{ ifName: '50%' }, 'percent sign'],
    [{ ifName: 'eth\u0001' }, 'control characters'],
    [{ ifName: 'eth\u001b[2J' }, 'control characters'],
    [{ ifName: 'e\u202eth' }, 'control characters'],
    [{ args: k8s('web\u001b[2Jowned') }, 'CNI_ARGS "K8S_POD_NAME"'],
    [{ args: k8s('web\nINFO all is well') }, 'control characters'],
    [{ args: k8s('web\u009b2J') }, 'control characters'],
    [{ id: 'c'.repeat(200), ...network(42) }, 'may have 244 bytes together'],
    [{ id: 'c'.repeat(255), ...network(255) }, 'may have 244 bytes together'],
  ])('with %j is refused before anything is taken', async (call, words) => {
    const agent = await createReadyHarness();
    const netns = '/run/netns/c1';
    const { ok, json } = await agent.call('ADD', { netns, ...call });
    expect(ok).toBe(false);
    expect(json).toMatchObject({ code: 4, msg: containing(words) });
    expect(json['msg']).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(addresses(agent)).toBe(0);
    expect(agent.context.endpoints.size).toBe(0);
  });

  test.each([
    [{ ifName: 'ethä' }],
    [{ ifName: 'veth-1.2@3' }],
    [{ args: k8s('bücher-7f9c') }],
    [{ id: 'c'.repeat(200), ...network(40) }],
  ])('with %j is served, and its DEL too', async (call) => {
    const agent = await createReadyHarness();
    const netns = '/run/netns/c1';
    expect((await agent.call('ADD', { netns, ...call })).ok).toBe(true);
    expect((await agent.call('DEL', { netns, ...call })).ok).toBe(true);
    expect(addresses(agent)).toBe(0);
    expect(agent.records.records.size).toBe(0);
  });

  test('that fails leaves no address taken, also when its record cannot be deleted', async () => {
    const agent = await createReadyHarness();
    agent.records.failing = new Set(['write', 'delete']);
    for (const id of ['c1', 'c2', 'c3']) expect((await agent.call('ADD', { id })).ok).toBe(false);
    expect(addresses(agent)).toBe(0);
  });
});

test('an endpoint that an earlier version gave such a name is removed', async () => {
  const before = await createReadyHarness();
  await before.call('ADD');
  const record = before.records.records.get(keyOf('c1'))!;
  const id = { ...record.id, ifName: 'eth%d\u0001' };
  before.records.records.clear();
  before.records.records.set(keyOf('c1', id.ifName), { ...record, id });
  const agent = createHarness({
    engine: before.engine,
    records: before.records,
    namespaces: before.namespaces,
  });
  await agent.recover();
  expect(agent.context.endpoints.size).toBe(1);
  expect((await agent.call('DEL', { ifName: id.ifName })).ok).toBe(true);
  expect(addresses(agent)).toBe(0);
});
