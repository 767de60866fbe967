/** Addresses that are not of the node's own blocks: borrowed, because there is no block left, or static ones that move. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { containsAddress, formatAddress, parseAddress, parsePrefix } from '@podwire/addresses';
import type { Block } from '@podwire/cluster-state';
import { eventually } from '@podwire/testkit';
import { assertConverged, type Cluster, createCluster, startTraffic } from './cluster.js';
import { type ClusterNode, type Pod, untilReaches } from './node.js';
import { readStore } from './store-view.js';

export function defineLentCases(fabric: 'direct' | 'vxlan'): void {
  void describe(`three blocks for four nodes, ${fabric}`, { timeout: 180_000 }, () => {
    let cluster: Cluster;
    let nodes: readonly ClusterNode[];
    let four: ClusterNode;
    const lent: Pod[] = [];
    before(async () => {
      cluster = await createCluster({
        ...{ name: `lent-${fabric.slice(0, 2)}`, nodes: 3, hosts: 4 },
        pools: [
          {
            ...{ name: 'v4', cidr: '10.244.0.0/26', blockSize: 28, encapsulation: fabric },
            // No node may have one of the four blocks.
            ...{ reserved: ['10.244.0.48/28'], borrowing: true, maxBlocksPerNode: 1 },
          },
        ],
      });
      four = await cluster.startNode('n4', 3);
      nodes = [...cluster.nodes, four];
    });
    after(async () => cluster?.close());

    const blocks = async (): Promise<Block[]> =>
      [...(await readStore(cluster.etcd)).blocks.values()].map(({ value }) => value);

    async function ownerOf(address: string): Promise<Block> {
      const found = (await blocks()).find(({ cidr }) =>
        containsAddress(parsePrefix(cidr), parseAddress(address)),
      );
      assert.ok(found, address);
      return found;
    }

    /** From the machine of every other node. */
    const untilAllReach = async (pod: Pod): Promise<void> => {
      for (const node of nodes) if (node.name !== pod.node) await untilReaches(node.host.namespace, pod);
    };

    void test('the fourth gets lent addresses, and its pods are reached from everywhere', async () => {
      for (const node of cluster.nodes) await node.add();
      for (let count = 0; count < 3; count++) lent.push(await four.add());
      for (const pod of lent) {
        const { node, loans } = await ownerOf(pod.addresses[0]!);
        assert.notEqual(node, 'n4');
        assert.ok(loans.some((loan) => loan.address === pod.addresses[0] && loan.node === 'n4'));
        await untilAllReach(pod);
      }
      assert.equal((await blocks()).length, 3);
      await assertConverged(cluster, nodes);
    });

    void test('owners and the borrower die and start: no packet is lost, nothing lent is handed out', async () => {
      const traffic = await startTraffic(nodes.map((node) => [...node.pods][0]!));
      for (const node of nodes) {
        await node.agent.kill9();
        await node.agent.start();
        for (let count = 0; count < 2; count++) await node.add();
      }
      for (const pod of lent) await untilAllReach(pod);
      await assertConverged(cluster, nodes);
      await traffic.end();
    });

    /** Pods on the fourth until an agent has died of it; all are started again. */
    async function untilDead(candidates: readonly ClusterNode[], point: string): Promise<void> {
      for (const node of candidates) {
        node.faults.clear();
        node.faults.inject({ point, skip: 0, signal: 'SIGKILL' });
      }
      const dead = (): ClusterNode[] => candidates.filter(({ faults }) => !faults.isPending());
      for (let count = 0; count < 10 && dead().length === 0; count++) {
        const pod = await four.tryAdd();
        if (typeof pod !== 'string') lent.push(pod);
      }
      assert.ok(dead().length > 0, `${point} is reached`);
      for (const node of dead()) {
        await node.agent.exited();
        await node.agent.start();
        await node.undoUnanswered();
      }
      for (const node of candidates) node.faults.clear();
    }

    void test('killed at grant:chosen, grant:written, borrow:asked: nothing is lost or doubled', async () => {
      for (const point of ['grant:chosen', 'grant:written', 'borrow:asked']) {
        await untilDead(point === 'borrow:asked' ? [four] : cluster.nodes, point);
        await eventually('the fourth gets an address', async () => {
          const pod = await four.tryAdd();
          if (typeof pod === 'string') return pod;
          return lent.push(pod) > 0;
        });
        await assertConverged(cluster, nodes);
      }
      await untilAllReach(lent.at(-1)!);
    });

    void test('a static address moves with its pod from the first node to the third and back', async () => {
      const { allocationRecords } = await readStore(cluster.etcd);
      const block = (await blocks()).find(({ node }) => node === 'n1')!;
      const taken = new Set([
        ...allocationRecords.flatMap(({ value }) => value.entries.map(({ address }) => address)),
        ...block.loans.map(({ address }) => address),
      ]);
      const { address } = parsePrefix(block.cidr);
      const all = Array.from({ length: 16 }, (_, index) =>
        formatAddress({ family: 4, value: address.value + BigInt(index) }),
      );
      const wanted = all.findLast((each) => !taken.has(each))!;
      const set = await cluster.podwire(
        'workload',
        'set',
        'test/db-0',
        '--address',
        wanted,
        '--sticky',
        'on',
      );
      assert.equal(set.code, 0, set.stderr);
      for (const node of [cluster.nodes[0]!, cluster.nodes[2]!, cluster.nodes[0]!]) {
        let pod: Pod | undefined;
        await eventually(`${node.name} gives it`, async () => {
          const answer = await node.tryAdd({ name: 'db-0' });
          if (typeof answer === 'string') return answer;
          pod = answer;
          return true;
        });
        assert.deepEqual(pod!.addresses, [wanted]);
        await untilAllReach(pod!);
        await node.del(pod!);
      }
      await assertConverged(cluster, nodes);
      assert.equal((await cluster.podwire('workload', 'delete', 'test/db-0')).code, 0);
    });

    void test('what the fourth does not need any more goes back to its owners, who use it', async () => {
      for (const pod of four.pods) await four.del(pod);
      // Its end of tunnels is all that it keeps.
      const kept = fabric === 'vxlan' ? 1 : 0;
      await eventually('the loans are over', async () => {
        const loans = (await blocks()).flatMap((block) => block.loans);
        return loans.length === kept || JSON.stringify(loans);
      });
      const back = new Set(lent.map(({ addresses }) => addresses[0]!));
      for (const node of cluster.nodes) {
        await eventually(`${node.name} is full`, async () => {
          const pod = await node.tryAdd();
          if (typeof pod !== 'string') back.delete(pod.addresses[0]!);
          return typeof pod === 'string' || node.pods.size >= 16;
        });
      }
      assert.deepEqual([...back], []);
      await assertConverged(cluster, nodes);
    });
  });
}
