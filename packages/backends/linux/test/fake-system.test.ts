import { createFakeSystem, type FakeSystem, nodeResources, podResources } from '../src/fake/index.js';
import { createLinuxBackends, LIVE_GROUP } from '../src/index.js';
import { createEngine, type Engine, type Owned } from '@podwire/engine';
import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { SystemError } from '@podwire/linux';
import { NftablesError } from '@podwire/nftables';
import {
  addFilterRequest,
  createLinkRequest,
  deleteFiltersRequest,
  deleteLinkRequest,
  deleteQdiscRequest,
  listFilters,
  listLinks,
  listRoutes,
  replaceQdiscRequest,
  setLinkRequest,
  TC_ROOT,
} from '@podwire/netlink';
import { call } from './call.js';

let system: FakeSystem;
let engine: Engine;

beforeEach(async () => {
  system = createFakeSystem();
  engine = createEngine({ backends: createLinuxBackends(system) });
  await engine.apply(node, call());
});

const node: Owned = { owner: 'node', resources: nodeResources };
const pod = (n: number): Owned => ({
  owner: `endpoint:${n}`,
  resources: podResources(n),
  namespace: system.addPod(`/run/netns/pod${n}`),
});

/** Everything of ours that the fake system has. */
function picture(): unknown {
  const { route } = system.host;
  return {
    links: listLinks(route).map(({ name, group }) => ({ name, group })),
    routes: listRoutes(route).map(({ destination, link, protocol }) => ({ destination, link, protocol })),
    ports: system.nftables.listElements('inet', 'podwire', 'ports'),
  };
}

describe('apply', () => {
  test('all or nothing, whichever request the kernel refuses', async () => {
    const owned = pod(1);
    const empty = picture();
    const used = system.netlink.requests.length;
    await engine.apply(owned, call());
    const requests = system.netlink.requests.length - used;
    await engine.remove(owned, call());
    await engine.settle();
    expect(picture()).toEqual(empty);

    for (let nth = 1; nth <= requests; nth++) {
      system.netlink.intercept = undefined;
      system.netlink.failRequest(nth, { code: 'ENOMEM' });
      await expect(engine.apply(owned, call()), `request ${nth}`).rejects.toThrow(/ENOMEM/);
      system.netlink.intercept = undefined;
      await engine.settle();
      expect(picture(), `request ${nth}`).toEqual(empty);
    }
  });

  test('takes everything back when the packet filter refuses', async () => {
    const empty = picture();
    system.nftables.inject({ method: 'transact', code: 'ENFILE' });
    await expect(engine.apply(pod(1), call())).rejects.toMatchObject({ code: 'KERNEL_REFUSED' });
    await engine.settle();
    expect(picture()).toEqual(empty);
  });

  test('names the resource and the owner that the kernel refused, with its own words', async () => {
    system.netlink.failRequest(1, { code: 'ENOMEM', message: 'no room for a link' });
    await expect(engine.apply(pod(1), call())).rejects.toMatchObject({
      code: 'KERNEL_REFUSED',
      message: expect.stringMatching(/^endpoint:1: veth pwtest1 .*ENOMEM.*no room for a link/) as string,
    });
  });

  test('tries again when what held the name of a link was just deleted', async () => {
    const owned = pod(1);
    system.netlink.failRequest(1, { code: 'EEXIST' });
    await engine.apply(owned, call());
    expect(await engine.verify(owned, call())).toEqual([]);
  });

  test('says of each element only what is wrong with it', async () => {
    const owned = pod(1);
    const port = owned.resources.find(({ kind }) => kind === 'nft-element')!;
    const resources = owned.resources.flatMap((one) =>
      one === port ? [port, { ...port }, { ...port }] : [one],
    );
    vi.spyOn(system.nftables, 'transact').mockImplementation(() => {
      throw new NftablesError([
        { index: 0, label: 'first', code: 'ENOENT', errno: 2 },
        { index: 2, label: 'third', code: 'ENFILE', errno: 23 },
      ]);
    });
    await expect(engine.apply({ ...owned, resources }, call())).rejects.toMatchObject({
      message: expect.stringMatching(/^((?!first|third).)*first: ENOENT((?!first).)*third: ENFILE/) as string,
    });
  });

  test('refuses a namespace that is gone before anything is made', async () => {
    const owned = pod(1);
    system.removePod(owned.namespace!);
    const empty = picture();
    await expect(engine.apply(owned, call())).rejects.toMatchObject({ code: 'NAMESPACE_GONE' });
    expect(picture()).toEqual(empty);
  });
});

describe('remove', () => {
  test('goes on after errors, names them all, and can be repeated', async () => {
    const owned = pod(1);
    const empty = picture();
    await engine.apply(owned, call());
    system.conntrack.inject({ method: 'deleteConntrack', code: 'ENOMEM' });
    await expect(engine.remove(owned, call())).rejects.toMatchObject({
      code: 'REMOVE_INCOMPLETE',
      message: expect.stringMatching(/no connections to .* udp 5001/) as string,
    });
    await engine.settle();
    expect(picture()).toEqual(empty);
    await engine.remove(owned, call());
  });
});

describe('reconcile', () => {
  test('repairs other pods when one cannot be looked at', async () => {
    const pods = [pod(1), pod(2), pod(3)];
    for (const owned of pods) await engine.apply(owned, call());
    system.host.route.request([deleteLinkRequest('pwtest3')]);
    const enter = system.enter.bind(system);
    vi.spyOn(system, 'enter').mockImplementation((identity) => {
      if (identity.path === '/run/netns/pod2') throw new SystemError('open', 24, identity.path);
      return enter(identity);
    });
    const changes = await engine.reconcile([node, ...pods], call());
    expect(changes.filter(({ action }) => action === 'failed')).toEqual([
      {
        owner: 'endpoint:2',
        action: 'failed',
        what: 'pod at /run/netns/pod2',
        error: expect.objectContaining({ code: 'EMFILE' }) as Error,
      },
    ]);
    vi.restoreAllMocks();
    for (const owned of pods) expect(await engine.verify(owned, call())).toEqual([]);
  });
});

describe('what shapes a pod', () => {
  const index = (name: string): number =>
    listLinks(system.host.route).find((link) => link.name === name)!.index;

  test('is redirected to the new ifb and nowhere else when the ifb was deleted', async () => {
    const owned = pod(1);
    await engine.apply(owned, call());
    system.host.route.request([deleteLinkRequest('pwshape1')]);
    const changes = await engine.reconcile([node, owned], call());
    expect(changes.filter(({ action }) => action !== 'repaired')).toEqual([]);
    const filters = listFilters(system.host.route, { link: index('pwtest1') });
    expect(filters.map(({ settings }) => settings?.actions)).toEqual([
      [expect.objectContaining({ kind: 'mirred', target: index('pwshape1') })],
    ]);
    expect(await engine.verify(owned, call())).toEqual([]);
  });

  test('is adrift while a redirect to another link stands before its own', async () => {
    const owned = pod(1);
    await engine.apply(owned, call());
    const [link, target] = [index('pwtest1'), index('lo')];
    const redirectTo = (to: number) =>
      addFilterRequest({ link, priority: 1, action: { kind: 'mirred', direction: 'egress', target: to } });
    system.host.route.request([
      deleteFiltersRequest({ link }),
      redirectTo(target),
      redirectTo(index('pwshape1')),
    ]);
    expect(await engine.verify(owned, call())).toMatchObject([{ state: 'changed' }]);
    await engine.reconcile([node, owned], call());
    expect(listFilters(system.host.route, { link })).toHaveLength(1);
  });

  test('is repaired when another program changed the ifb or took it down', async () => {
    const owned = pod(1);
    await engine.apply(owned, call());
    system.host.route.request([setLinkRequest('pwshape1', { up: false, mtu: 1000 })]);
    const changes = await engine.reconcile([node, owned], call());
    expect(changes).toEqual([{ owner: 'endpoint:1', action: 'repaired', what: 'ifb pwshape1' }]);
    expect(listLinks(system.host.route).find(({ name }) => name === 'pwshape1')).toMatchObject({
      up: true,
      mtu: 1450,
    });
  });

  test('is a token bucket again when another program replaced or removed the qdisc', async () => {
    const owned = pod(1);
    await engine.apply(owned, call());
    const [link, parent] = [index('pwtest1'), TC_ROOT];
    for (const change of [
      replaceQdiscRequest({ kind: 'htb', link, parent }),
      deleteQdiscRequest({ link, parent }),
    ]) {
      system.host.route.request([change]);
      expect(await engine.reconcile([node, owned], call())).toMatchObject([{ action: 'repaired' }]);
      expect(await engine.verify(owned, call())).toEqual([]);
    }
  });

  test("leaves a foreign link alone that has the ifb's name", async () => {
    const owned = pod(1);
    await engine.apply(owned, call());
    system.host.route.request([
      deleteLinkRequest('pwshape1'),
      createLinkRequest({ kind: 'ifb', name: 'pwshape1', mtu: 1000 }),
    ]);
    const changes = await engine.reconcile([node, owned], call());
    expect(changes).toContainEqual(expect.objectContaining({ action: 'failed', what: 'ifb pwshape1' }));
    expect(listLinks(system.host.route).find(({ name }) => name === 'pwshape1')).toMatchObject({
      mtu: 1000,
      group: 0,
    });
  });
});

describe('any sequence of calls', () => {
  type Step = { kind: 'apply' | 'remove' | 'reconcile' | 'restart' | 'kill-pod'; n: number };
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('apply', 'remove', 'reconcile', 'restart', 'kill-pod'),
    n: fc.integer({ min: 1, max: 4 }),
  });

  test('leaves exactly what is wanted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        system = createFakeSystem();
        engine = createEngine({ backends: createLinuxBackends(system) });
        await engine.apply(node, call());
        const wanted = new Map<number, Owned>();
        for (const { kind, n } of steps) await run(kind, n, wanted);
        await engine.reconcile([node, ...wanted.values()], call());
        await engine.settle();

        const links = listLinks(system.host.route, { group: LIVE_GROUP }).map(({ name }) => name);
        expect(links.sort()).toEqual([...wanted.keys()].flatMap((n) => [`pwshape${n}`, `pwtest${n}`]).sort());
        for (const owned of wanted.values()) expect(await engine.verify(owned, call())).toEqual([]);
        expect(system.nftables.listElements('inet', 'podwire', 'ports')).toHaveLength(wanted.size);
      }),
      { numRuns: 60 },
    );
  });

  async function run(kind: Step['kind'], n: number, wanted: Map<number, Owned>): Promise<void> {
    if (kind === 'restart') engine = createEngine({ backends: createLinuxBackends(system) });
    if (kind === 'reconcile') await engine.reconcile([node, ...wanted.values()], call());
    const owned = wanted.get(n);
    if (kind === 'apply' && owned === undefined) {
      wanted.set(n, pod(n));
      await engine.apply(wanted.get(n)!, call());
    }
    if (owned === undefined || (kind !== 'remove' && kind !== 'kill-pod')) return;
    if (kind === 'kill-pod') system.removePod(owned.namespace!);
    await engine.remove(owned, call());
    wanted.delete(n);
  }
});
