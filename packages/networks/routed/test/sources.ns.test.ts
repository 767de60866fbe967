/** The set of allowed sources in a real kernel: what it spares, and that nothing depends on it. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import { createEngine, type Engine } from '@podwire/engine';
import { planSources } from '@podwire/network-traffic';
import { reaches, serveEcho } from '@podwire/testkit';
import { countFrom } from './counting.js';
import { createWiredHost, type WiredHost, type WiredPod } from './wired-host.js';

const call = () => ({ signal: AbortSignal.timeout(10_000) });

suite('sources of pods as elements', () => {
  let host: WiredHost;
  let engine: Engine;
  let a: WiredPod;
  let b: WiredPod;
  let c: WiredPod;

  before(async () => {
    // Without the kernel's own check of IPv4, so that the table stands alone.
    host = await createWiredHost('sources', {}, { 'net/ipv4/conf/all/rp_filter': '0' });
    engine = createEngine({ backends: createLinuxBackends(openKernel(host.namespace)) });
    [a, b, c] = [await host.addPod(), await host.addPod(), await host.addPod()];
    for (const pod of [a, b, c])
      await host.namespace.run(['sysctl', '-qw', `net.ipv4.conf.${linkOf(pod)}.rp_filter=0`]);
    await engine.change({ owner: 'policy' }, { replace: [a, b, c].flatMap(sourcesOf) }, call());
  });
  after(async () => {
    await engine?.close();
    await host?.close();
  });

  const linkOf = (pod: WiredPod): string => pod.plan.links[0]!.name;
  const sourcesOf = (pod: WiredPod) => planSources(linkOf(pod), [pod.ipv4, pod.ipv6]);

  const reachesB = async (): Promise<boolean[]> => {
    const answers: boolean[] = [];
    for (const address of [b.ipv4, b.ipv6]) {
      const server = await serveEcho(b.namespace, 'udp', address, 0);
      answers.push(await reaches(a.namespace, 'udp', address, server.port));
      await server.close();
    }
    return answers;
  };

  /** How many datagrams of `a` with these sources arrive at `b`, IPv4 and IPv6. */
  const spoof = async (ipv4: string, ipv6: string): Promise<number[]> => {
    await a.namespace.ip(`addr add ${ipv4}/32 dev eth0`, `addr add ${ipv6}/128 dev eth0 nodad`);
    const arrived = await countFrom(b.namespace, ipv4, ipv6);
    await reaches(a.namespace, 'udp', b.ipv4, 9, { from: ipv4, timeout: 100 });
    await reaches(a.namespace, 'udp', b.ipv6, 9, { from: ipv6, timeout: 100 });
    // Behind them in the same queues: what has not arrived by now will not.
    assert.deepEqual(await reachesB(), [true, true]);
    await a.namespace.ip(`addr del ${ipv4}/32 dev eth0`, `addr del ${ipv6}/128 dev eth0`);
    return arrived.counts();
  };

  test('a pod sends from its own addresses, and from no others, not even from another pod’s', async () => {
    assert.deepEqual(await reachesB(), [true, true]);
    assert.deepEqual(await spoof('10.244.0.50', 'fd00:244::32'), [0, 0]);
    assert.deepEqual(await spoof(c.ipv4, c.ipv6), [0, 0]);
  });

  test('what is in the set is not looked up in the routes', async () => {
    const foreign = planSources(linkOf(a), ['10.244.0.51', 'fd00:244::33']);
    await engine.change({ owner: 'policy' }, { replace: foreign }, call());
    assert.deepEqual(await spoof('10.244.0.51', 'fd00:244::33'), [1, 1]);
    await engine.change({ owner: 'policy' }, { remove: foreign }, call());
    assert.deepEqual(await spoof('10.244.0.51', 'fd00:244::33'), [0, 0]);
  });

  test('without its elements a pod goes on sending, and others’ addresses stay refused', async () => {
    await host.namespace.run(['nft', 'flush', 'set', 'inet', 'podwire', 'sources4']);
    await host.namespace.run(['nft', 'flush', 'set', 'inet', 'podwire', 'sources6']);
    assert.deepEqual(await reachesB(), [true, true]);
    assert.deepEqual(await spoof(c.ipv4, c.ipv6), [0, 0]);
    const wanted = { owner: 'policy', resources: sourcesOf(a) };
    const drifts = await engine.verify(wanted, call());
    assert.equal(drifts.length, 2, 'their absence is seen');
  });

  test('an address that has another pod now is refused behind the former link', async () => {
    const taken = planSources(linkOf(c), ['10.244.0.52', 'fd00:244::34']);
    await engine.change({ owner: 'policy' }, { replace: taken, remove: sourcesOf(c) }, call());
    assert.deepEqual(await spoof('10.244.0.52', 'fd00:244::34'), [0, 0]);
  });
});
