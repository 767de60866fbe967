/** Requests that are served while a reconcile is under way. */
import { describe, expect, test } from 'vitest';
import { createGate } from './fakes/gates.js';
import { createReadyHarness, type Harness, keyOf } from './fakes/harness.js';

/** Holds a reconcile at its work on one owner. */
function holdAt(agent: Harness, owner: string) {
  const [reached, gate] = [createGate(), createGate()];
  agent.engine.repairWith = (owned) => {
    if (owned.owner !== owner) return undefined;
    agent.engine.repairWith = () => undefined;
    reached.open();
    return gate.opened.then(() => []);
  };
  return { reached: reached.opened, release: () => gate.open() };
}

const ownerOf = (id: string): string => `endpoint:${keyOf(id)}`;

/** The kernel has exactly the resources of the records. */
function checkKernel(agent: Harness): void {
  const owners = [...agent.engine.present.values()]
    .map(({ owner }) => owner)
    .filter((each) => each !== 'node');
  const known = agent.context.endpoints.all().map(({ id }) => `endpoint:${keyOf(id.containerId)}`);
  expect(new Set(owners)).toEqual(new Set(known));
  expect(agent.engine.violations).toEqual([]);
}

describe.each(['node', ownerOf('c1')])('while a reconcile works on %s', (owner) => {
  test('other endpoints are added, checked and deleted', async () => {
    const agent = await createReadyHarness();
    for (const id of ['c1', 'c2']) await agent.call('ADD', { id });
    const held = holdAt(agent, owner);
    const report = agent.reconciler.run();
    await held.reached;
    expect((await agent.call('ADD', { id: 'c3' })).ok).toBe(true);
    expect((await agent.call('DEL', { id: 'c2' })).ok).toBe(true);
    held.release();
    expect(await report).toMatchObject({ changes: [], removed: [], failures: [] });
    expect(agent.engine.of(ownerOf('c3'))).not.toEqual([]);
    expect(agent.engine.of(ownerOf('c2'))).toEqual([]);
    checkKernel(agent);
  });

  test('another reconcile waits, and finds nothing to do', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    const held = holdAt(agent, owner);
    const reports = [agent.reconciler.run(), agent.reconciler.run()];
    await held.reached;
    held.release();
    for (const report of await Promise.all(reports)) expect(report.changes).toEqual([]);
    checkKernel(agent);
  });
});

test('the endpoint that a reconcile works on waits, and only that one', async () => {
  const agent = await createReadyHarness();
  await agent.call('ADD');
  const held = holdAt(agent, ownerOf('c1'));
  const report = agent.reconciler.run();
  await held.reached;
  const removal = agent.call('DEL');
  await agent.call('ADD', { id: 'c2' });
  expect(agent.engine.of(ownerOf('c1'))).not.toEqual([]);
  held.release();
  await Promise.all([removal, report]);
  expect(agent.engine.of(ownerOf('c1'))).toEqual([]);
  checkKernel(agent);
});

describe('an endpoint that a request is working on', () => {
  /** An ADD whose plugin does not take the answer yet: it is wired, and its lock is held. */
  async function addSlowly(agent: Harness, id: string) {
    const [asked, gate] = [createGate(), createGate()];
    const answer = (): Promise<void> => {
      asked.open();
      return gate.opened;
    };
    const added = agent.call('ADD', { id, answer });
    await asked.opened;
    return { added, finish: () => gate.open() };
  }

  test('is left to the request', async () => {
    const agent = await createReadyHarness();
    const slow = await addSlowly(agent, 'c1');
    expect(await agent.reconciler.run()).toMatchObject({ changes: [], removed: [], failures: [] });
    slow.finish();
    expect((await slow.added).ok).toBe(true);
    checkKernel(agent);
  });

  test('is waited for after a repair of the node, which may have cost it something', async () => {
    const agent = await createReadyHarness();
    const slow = await addSlowly(agent, 'c1');
    for (const [identity, { resource }] of agent.engine.present)
      if (['nft-table', 'route'].includes(resource.kind)) agent.engine.present.delete(identity);
    const report = agent.reconciler.run();
    await agent.call('ADD', { id: 'c2' });
    slow.finish();
    const repaired = (await report).changes.map(({ owner }) => owner);
    expect(repaired).toContain('node');
    expect(repaired).toContain(ownerOf('c1'));
    expect(agent.engine.of(ownerOf('c1'))).toContainEqual(expect.objectContaining({ kind: 'route' }));
    checkKernel(agent);
  });
});

test('a reconcile skips endpoints while GC has all of them, and GC does not wait for its end', async () => {
  const agent = await createReadyHarness();
  for (const id of ['c1', 'c2', 'c3']) await agent.call('ADD', { id });
  const held = holdAt(agent, ownerOf('c1'));
  const report = agent.reconciler.run();
  await held.reached;
  const collected = agent.call('GC', { config: { 'cni.dev/valid-attachments': [] } });
  held.release();
  expect((await collected).ok).toBe(true);
  expect((await report).failures).toEqual([]);
  expect(agent.context.endpoints.size).toBe(0);
  checkKernel(agent);
});
