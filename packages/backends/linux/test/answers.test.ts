/** Waiting until a neighbour answers, on a kernel in memory. */
import { createEngine, inApplyOrder, type Owned, type Resource } from '@podwire/engine';
import { addAddressRequest, listLinks, readLink, replaceNeighbourRequest } from '@podwire/netlink';
import { createTestClock } from '@podwire/platform/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createFakeSystem } from '../src/fake/index.js';
import { createLinuxBackends, isMarkedForDeletion } from '../src/index.js';
import { describeUnready, nextStep } from '../src/rtnetlink/answers.js';
import { call } from './call.js';

const GATEWAY = '10.9.0.1';
const [host, pod] = [
  { name: 'pw1', mac: 'ee:ee:ee:ee:ee:ee' },
  { name: 'eth0', mac: '02:00:00:00:00:01' },
];
const veth: Resource = { kind: 'veth', host, pod, mtu: 1_400 };
const ups: readonly Resource[] = [
  { kind: 'link-up', in: 'host', link: 'pw1' },
  { kind: 'link-up', in: 'pod', link: 'eth0' },
  { kind: 'link-ready', in: 'pod', link: 'eth0' },
];
const links = [veth, ...ups];
const answer = (address = GATEWAY): Resource => ({
  ...{ kind: 'neighbour-answers', in: 'pod', link: 'eth0', address },
});

function open() {
  const [system, clock] = [createFakeSystem(), createTestClock()];
  const engine = createEngine({ backends: createLinuxBackends(system, clock) });
  onTestFinished(() => engine.close());
  const namespace = system.addPod('/run/netns/pod');
  const apply = (...resources: readonly Resource[]): Promise<void> =>
    engine.apply({ owner: 'ovn,c1,eth0', namespace, resources: [veth, ...resources, ...ups] }, call());
  const give = (address: string): void => {
    const link = readLink(system.host.route, 'pw1')!.index;
    system.host.route.request([addAddressRequest({ link, address })]);
  };
  return { system, clock, engine, namespace, apply, give };
}

const gateway = (address: string): Resource => ({ kind: 'address', in: 'host', link: 'pw1', address });

test('a neighbour that answers at once is not waited for', async () => {
  const { apply } = open();
  await apply(gateway(`${GATEWAY}/24`), answer());
});

test('a neighbour that answers later is waited for', async () => {
  const { clock, apply, give } = open();
  const applied = apply(answer());
  await clock.advance(2_000);
  expect(clock.sleepers()).toBe(1);
  give(`${GATEWAY}/24`);
  await clock.advance(100);
  await applied;
});

test('a neighbour that never answers is named after the time-out, and nothing stays', async () => {
  const { system, clock, apply } = open();
  const applied = expect(apply({ ...answer(), timeout: 5_000 } as Resource)).rejects.toMatchObject({
    code: 'NEIGHBOUR_SILENT',
    message: '10.9.0.1 has not answered on eth0 of ovn,c1,eth0 for 5 s: nothing has come back',
  });
  await clock.advance(5_000);
  await applied;
  expect(
    listLinks(system.host.route).filter((link) => link.kind === 'veth' && !isMarkedForDeletion(link)),
  ).toEqual([]);
});

test('a neighbour is waited for no longer than its caller waits', async () => {
  const { namespace, engine } = open();
  const caller = new AbortController();
  const pod: Owned = { owner: 'ovn,c1,eth0', namespace, resources: [...links, answer()] };
  const applied = engine.apply(pod, { signal: caller.signal });
  caller.abort();
  await expect(applied).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
});

test('with IPv6 nothing is asked before there is an address to ask from', async () => {
  const { clock, apply } = open();
  const mode: Resource = { kind: 'link-local-mode', in: 'pod', link: 'eth0', mode: 'manual' };
  const resources = [mode, gateway('fd00::1/64'), answer('fd00::1')];
  const applied = expect(apply(...resources)).rejects.toThrow('eth0 has no link-local address to ask from');
  await clock.advance(30_000);
  await applied;
  const source: Resource = { kind: 'address', in: 'pod', link: 'eth0', address: 'fe80::9/64', scope: 'link' };
  await apply(source, ...resources);
});

test('a neighbour that does not answer any more is no drift', async () => {
  const { system, engine, namespace, apply } = open();
  await apply(gateway(`${GATEWAY}/24`), answer());
  const { route } = system.enter(namespace);
  const link = readLink(route, 'eth0')!.index;
  route.request([
    replaceNeighbourRequest({ link, address: GATEWAY, mac: '02:00:00:00:00:09', state: 'failed' }),
  ]);
  const resources = [...links, gateway(`${GATEWAY}/24`), answer()];
  expect(await engine.verify({ owner: 'ovn,c1,eth0', namespace, resources }, call())).toEqual([]);
});

test('a pod whose link is made again is not kept waiting for its neighbour', async () => {
  const { engine, namespace } = open();
  const resources = [...links, answer()];
  const changes = await engine.reconcile([{ owner: 'ovn,c1,eth0', namespace, resources }], call());
  expect(changes.map(({ action }) => action)).toEqual(links.map(() => 'repaired'));
});

test('a neighbour is asked for after its link is ready, and after what it says', () => {
  const { engine } = open();
  const later = gateway(`${GATEWAY}/24`);
  const after = [engine.kinds.keyOf(later)];
  const list = [{ ...answer(), after } as Resource, later, ...links];
  expect(inApplyOrder(engine.kinds, list).at(-1)).toMatchObject({ kind: 'neighbour-answers' });
});

test.each([
  ['reachable', 'done'],
  ['permanent', 'done'],
  ['noarp', 'done'],
  ['incomplete', 'wait'],
  ['probe', 'wait'],
  ['stale', 'probe'],
  ['delay', 'probe'],
  ['failed', 'resolve'],
  ['none', 'resolve'],
  [undefined, 'resolve'],
] as const)('an entry that is %s leaves this to do: %s', (state, step) => {
  expect(nextStep(state, false)).toBe(step);
});

test('only an entry that the kernel waits for is asked for anew', () => {
  const states = ['incomplete', 'probe', 'reachable', 'stale', 'failed', undefined] as const;
  const steps = states.map((state) => nextStep(state, true));
  expect(steps).toEqual(['anew', 'wait', 'done', 'probe', 'resolve', 'resolve']);
});

test.each([
  [[], 'has no link-local address to ask from'],
  [[['permanent']], undefined],
  [[['tentative'], ['permanent']], undefined],
  [[['tentative']], 'has a link-local address that is still being checked for duplicates'],
  [[['optimistic']], 'has a link-local address that is still being checked for duplicates'],
  [[['tentative', 'dadFailed']], 'has a link-local address that another machine has, too'],
] as const)('addresses with the flags %j are usable, or not for this reason: %s', (all, reason) => {
  expect(describeUnready(all.map((flags) => ({ flags })))).toBe(reason);
});
