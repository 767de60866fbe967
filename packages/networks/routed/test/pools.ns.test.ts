/** Pools in the packet filter of a node: elements of its sets, seen by packets. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Kernel, type NftElement, type NftTable, openKernel } from '@podwire/backend-linux';
import { planNodeTraffic } from '@podwire/network-traffic';
import { digestTable } from '@podwire/nftables';
import { ask, serveEcho, startPing } from '@podwire/testkit';
import {
  beyond,
  createFabric,
  type Fabric,
  type FabricNode,
  type FabricPod,
  families,
} from './fabric-world.js';

const signal = (): AbortSignal => AbortSignal.timeout(30_000);

/** The table of versions that wrote the pools into its rules. */
function earlierForm({ kind: _, ...table }: NftTable, elements: readonly NftElement[]) {
  const contents = (set: string): string => {
    const values = elements.filter((each) => each.set === set).map(({ key }) => key[0]!.value);
    return `{ ${values.join(', ')} }`;
  };
  const rules = table.body.replaceAll(/^set (nat)?pools\d .*\n/gm, '');
  return { ...table, body: rules.replaceAll(/@((?:nat)?pools\d)/g, (_, set: string) => contents(set)) };
}

suite('the pools of a node', () => {
  let fabric: Fabric;
  let here: FabricNode;
  let there: FabricNode;
  let pod: FabricPod;
  let kernel: Kernel;
  let table: NftTable;
  let elements: readonly NftElement[];

  before(async () => {
    fabric = await createFabric({ name: 'pools', encapsulation: 'direct' });
    [here, there] = [fabric.nodes[0]!, fabric.nodes[1]!];
    [table, ...elements] = planNodeTraffic([here.view]);
    kernel = openKernel(here.host.namespace);
    pod = await here.addPod();
    for (const family of families) {
      await serveEcho(there.host.namespace, 'tcp', there[family], 81);
      await serveEcho(fabric.router, 'tcp', beyond[family], 82);
    }
  });
  after(async () => {
    kernel?.close();
    await fabric?.close();
  });

  const digest = (): string | undefined => kernel.nftables.tableDigest('inet', 'podwire');

  test('packets to a pool that comes keep their source, until it goes', async () => {
    const seen = (): Promise<string[]> =>
      Promise.all(
        families.map(async (family) => (await ask(pod.namespace, 'tcp', there[family], 81)).peer.address),
      );
    const nodes = families.map((family) => here[family]);
    assert.deepEqual(await seen(), nodes, 'outside the pools: masqueraded');

    const [, ...more] = planNodeTraffic([], [{ cidr: '192.0.2.0/24' }, { cidr: '2001:db8:2::/64' }]);
    const pools = { owner: 'node', resources: more };
    await here.engine.apply(pools, { signal: signal() });
    const pods = families.map((family) => pod[family]);
    assert.deepEqual(await seen(), pods);
    assert.equal(digest(), digestTable(table), 'the table is the same');
    await here.engine.remove(pools, { signal: signal() });
    assert.deepEqual(await seen(), nodes);
  });

  test('a node with the table of an earlier version gets the new one, and its pods keep working', async () => {
    const earlier = earlierForm(table, elements);
    await kernel.nftables.applyTable(earlier, { signal: signal() });
    assert.equal(digest(), digestTable(earlier));
    const pings = families.map((family) => startPing(pod.namespace, beyond[family], 20));
    for (const ping of pings) await ping.waitForAnswers(3);
    await here.meet(fabric.nodes.filter((node) => node !== here));
    for (const ping of pings) {
      await ping.waitForAnswers(3);
      assert.deepEqual((await ping.stop()).lost, []);
    }
    assert.equal(digest(), digestTable(table));
    assert.ok(kernel.nftables.hasElements(elements).every(Boolean), 'the pools are in their sets');
    for (const family of families) {
      const { peer } = await ask(pod.namespace, 'tcp', beyond[family], 82);
      assert.equal(peer.address, here[family], 'masqueraded');
    }
  });
});
