/** Compiled policy in a real kernel, with packets between two pods of one node. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createLinuxBackends, type Kernel, openKernel } from '@podwire/backend-linux';
import { createEngine, type Engine } from '@podwire/engine';
import { createPolicyRenderer, type PolicyRenderer, type RenderedDelta } from '@podwire/network-policy';
import type { CompiledDelta, CompiledDirection, CompiledEndpoint, CompiledPolicy } from '@podwire/policy';
import { assertBlocked, reaches, serveEcho, worldAddresses } from '@podwire/testkit';
import { createWiredHost, type WiredHost, type WiredPod } from './wired-host.js';

const nothing: CompiledDelta = {
  ...{ sets: [], setsRemoved: [], policies: [], policiesRemoved: [] },
  ...{ endpoints: [], endpointsRemoved: [] },
};
const open: CompiledDirection = { tiers: [], profiles: [], end: 'allow' };
const guarded: CompiledDirection = {
  ...open,
  tiers: [
    { tier: 'admin', policies: ['first'], end: 'pass' },
    { tier: 'default', policies: ['second'], end: 'deny' },
  ],
};
const pod = (key: string, ingress: CompiledDirection): CompiledEndpoint => ({
  ...{ key, kind: 'pod', ingress, egress: open },
});

const policy = (id: string, tier: string, ingress: CompiledPolicy['ingress']): CompiledPolicy => ({
  ...{ id, tier, rank: { order: 1, name: id }, ingress, hostMode: 'normal' },
  reference: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', namespace: 'a', name: id },
});

const port = { protocol: 'tcp', destinationPorts: [80, 81, 82, 83, 84].map(range) } as const;
function range(first: number): { first: number; last: number } {
  return { first, last: first };
}
const sets = [4, 6].flatMap((family) =>
  (['addresses', 'nets', 'ports'] as const).map((type) => ({
    ...{ id: `${type}-${family}`, type, family: family as 4 | 6, comment: `${type} of the test` },
  })),
);

suite('compiled policy in a kernel', () => {
  let host: WiredHost;
  let kernel: Kernel;
  let engine: Engine;
  let renderer: PolicyRenderer;
  let a: WiredPod;
  let b: WiredPod;

  before(async () => {
    host = await createWiredHost('policy');
    [a, b] = [await host.addPod(), await host.addPod()];
    for (const address of [b.ipv4, b.ipv6]) {
      await serveEcho(b.namespace, 'tcp', address, 80);
      await serveEcho(b.namespace, 'tcp', address, 90);
    }
    kernel = openKernel(host.namespace);
    engine = createEngine({ backends: createLinuxBackends(kernel) });
    renderer = createPolicyRenderer({ podLinkPrefixes: ['cali'], logGroup: 100 });
    await exchange(renderer.start());
  });
  after(async () => {
    await engine?.close();
    await host?.close();
  });

  const call = () => ({ signal: AbortSignal.timeout(10_000) });
  const exchange = (delta: RenderedDelta): Promise<void> =>
    engine.change({ owner: 'policy' }, { replace: delta.add, remove: delta.remove }, call());

  /** b answers a at its ports 80 and 90, over IPv4 and IPv6, where that is expected; elsewhere no packet gets to it. */
  async function assertAnswers(expected: readonly boolean[]): Promise<void> {
    const probes = [80, 90].flatMap((number) =>
      (['ipv4', 'ipv6'] as const).map((family) => ({ number, family })),
    );
    const claims = probes.map(({ number, family }, index) =>
      expected[index] ? assertReaches(family, number) : assertDenied(family, number),
    );
    await Promise.all(claims);
  }

  async function assertReaches(family: 'ipv4' | 'ipv6', number: number): Promise<void> {
    assert.ok(await reaches(a.namespace, 'tcp', b[family], number), `${family}, port ${number}`);
  }

  /** The node sends the markers: nothing that a closed pod sends is answered. */
  const assertDenied = (family: 'ipv4' | 'ipv6', number: number): Promise<void> =>
    assertBlocked(
      a.namespace,
      b.namespace,
      b[family],
      [{ namespace: host.namespace, address: worldAddresses.host[family] }],
      { protocol: 'tcp', port: number, source: a[family], markers: host.namespace },
    );

  const linkOf = (wired: WiredPod): string => wired.plan.links[0]!.name;
  const attach = (wired: WiredPod, endpoint: string) => ({
    link: linkOf(wired),
    value: { link: linkOf(wired), endpoint, addresses: [wired.ipv4, wired.ipv6] },
  });

  test('pods are closed until they are known, then open', async () => {
    await assertAnswers([false, false, false, false]);
    const endpoints = [pod('n/a', open), pod('n/b', open)];
    await exchange(renderer.apply({ ...nothing, endpoints }, [attach(a, 'n/a'), attach(b, 'n/b')]));
    await assertAnswers([true, true, true, true]);
  });

  test('rules over all sorts of sets let in what they say', async () => {
    const members = (family: 4 | 6) => ({
      addresses: family === 4 ? a.ipv4 : a.ipv6,
      nets: family === 4 ? '10.244.0.0/26' : 'fd00:244::/122',
      ports: `${family === 4 ? b.ipv4 : b.ipv6},tcp,80`,
    });
    const ingress = ([4, 6] as const).map((family) => ({
      ...{ action: 'allow' as const, family, path: 'spec.ingress[0]', ...port },
      source: [{ set: `addresses-${family}` }, { set: `nets-${family}` }],
      destination: [{ set: `ports-${family}` }],
    }));
    const delta = {
      ...nothing,
      sets: sets.map((set) => ({ set, add: [members(set.family)[set.type]], remove: [] })),
      policies: [policy('first', 'admin', []), policy('second', 'default', ingress)],
      endpoints: [pod('n/b', guarded)],
    };
    await exchange(renderer.apply(delta, []));
    await assertAnswers([true, true, false, false]);
  });

  test('a policy that begins to pass, to log and to deny takes effect in one transaction', async () => {
    const rule = { source: [], destination: [], path: 'spec.ingress[0]' };
    const change = async (ingress: CompiledPolicy['ingress'], expected: boolean[]): Promise<void> => {
      await exchange(renderer.apply({ ...nothing, policies: [policy('first', 'admin', ingress)] }, []));
      await assertAnswers(expected);
    };
    const logged = [
      { ...rule, action: 'log' as const },
      { ...rule, action: 'deny' as const },
    ];
    await change(logged, [false, false, false, false]);
    const passing = { ...rule, action: 'pass' as const, protocol: 'tcp' as const };
    await change([passing, { ...rule, action: 'deny' }], [true, true, false, false]);
    const noTcp = { ...rule, action: 'allow' as const, family: 6 as const, notProtocol: 'udp' as const };
    await change([noTcp], [true, true, false, true]);
  });

  test('a peer that goes is one element less, and the kernel has all that is wanted', async () => {
    const set = sets.find(({ id }) => id === 'addresses-4')!;
    const delta = renderer.apply({ ...nothing, sets: [{ set, add: [], remove: [a.ipv4] }] }, []);
    assert.equal(delta.remove.length, 1);
    await exchange(delta);
    await assertAnswers([false, true, false, true]);
    assert.deepEqual(await engine.verify({ owner: 'policy', resources: renderer.resources }, call()), []);
  });

  test('what is not wanted any more goes, and pods are closed again', async () => {
    const delta = {
      ...nothing,
      setsRemoved: sets,
      policiesRemoved: ['first', 'second'],
      endpointsRemoved: ['n/a', 'n/b'],
    };
    await exchange(renderer.apply(delta, []));
    assert.deepEqual(
      kernel.nftables
        .listSets('inet', 'podwire-policy')
        .map(({ name }) => name)
        .sort(),
      [...['pods-egress', 'pods-ingress', 'ported-protocols']],
    );
    await assertAnswers([false, false, false, false]);
  });
});
