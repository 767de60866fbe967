/** An agent of which one backend hangs: a real engine on a kernel in memory, seen through the agent's sockets. */
import { randomBytes } from 'node:crypto';
import { createLinuxBackends } from '@podwire/backend-linux';
import { createFakeSystem } from '@podwire/backend-linux/fake';
import { type Backend, createEngine, type Session } from '@podwire/engine';
import { deleteRouteRequest, listRoutes, type Route } from '@podwire/netlink';
import { describe, expect, test } from 'vitest';
import type { ReconcileReport } from '../src/reconcile.js';
import { containing } from './fakes/matchers.js';
import { makeUplink } from './fakes/peer-world.js';
import { namespacesOf } from './fakes/system-namespaces.js';
import { type RunningAgent, startTestAgent } from './fakes/running-agent.js';

/** Milliseconds that a call of a backend may take here. */
const callDeadline = 100;

/** The same backend, whose sessions answer nothing while it is told to hang. */
function hangWhen(isHanging: () => boolean, backend: Backend): Backend {
  const wrap = (session: Session): Session =>
    new Proxy(session, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        const call = member.bind(target) as (...args: unknown[]) => unknown;
        if (name === 'close') return call;
        return (...args: unknown[]) => (isHanging() ? new Promise(() => undefined) : call(...args));
      },
    });
  return { ...backend, open: (owned, context) => wrap(backend.open(owned, context)) };
}

interface World extends RunningAgent {
  readonly hanging: Set<string>;
  /** The route of the node to a pod. */
  readonly routeTo: (address: string) => Route | undefined;
  readonly dropRoute: (address: string) => void;
}

/** Two pods: `ports` needs every backend, `plain` has neither a host port nor anything else of the packet filter. */
async function startWithPods(): Promise<World> {
  const system = createFakeSystem();
  makeUplink(system.host.route);
  const hanging = new Set<string>();
  const backends = createLinuxBackends(system).map((one) => hangWhen(() => hanging.has(one.name), one));
  const engine = createEngine({ backends, callDeadline });
  const running = await startTestAgent({
    yaml: 'watchDrift: false',
    dependencies: { engine, random: randomBytes, namespaces: namespacesOf(system) },
  });
  await running.agent.ready;
  await running.call('ADD', 'plain');
  const portMappings = [{ hostPort: 53, containerPort: 53, protocol: 'udp' }];
  await running.call('ADD', 'ports', { runtimeConfig: { portMappings } });
  const routeTo = (address: string): Route | undefined =>
    listRoutes(system.host.route).find(({ destination }) => destination === `${address}/32`);
  const dropRoute = (address: string): void =>
    void system.host.route.request([deleteRouteRequest({ destination: `${address}/32` })]);
  return { ...running, hanging, routeTo, dropRoute };
}

const [plain, ports] = ['10.244.0.1', '10.244.0.2'];
const reconcile = async ({ get }: World): Promise<ReconcileReport> =>
  (await get('/v1/reconcile', {})).json as unknown as ReconcileReport;
const isSilent = (name: string): string => `BACKEND_SILENT: ${name} has not answered for 0.1 s`;

describe.each([
  // The node's own tables are in it, so the node takes no new pods meanwhile.
  { name: 'nftables', owners: ['node', 'pod web/ports', 'leftover'], ready: false },
  { name: 'conntrack', owners: ['pod web/ports'], ready: true },
])('while $name hangs', ({ name, owners, ready }) => {
  test('a reconcile repairs everything else, and status names the backend', async () => {
    const world = await startWithPods();
    for (const address of [plain, ports]) world.dropRoute(address);
    world.hanging.add(name);
    const { changes, failures } = await reconcile(world);
    expect(changes.filter(({ action }) => action === 'repaired')).toEqual(
      [plain, ports].map((address) => containingChange(`route ${address}/32`)),
    );
    for (const address of [plain, ports]) expect(world.routeTo(address)).toBeDefined();
    expect(failures).toHaveLength(owners.length);
    for (const owner of owners)
      expect(failures).toContainEqual(expect.stringMatching(new RegExp(`^${owner}: .*${isSilent(name)}$`)));
    const { json } = await world.get('/v1/status');
    expect(json).toMatchObject({ ready, lastReconcile: { failures } });
    expect(json['problem']).toEqual(ready ? null : containing(isSilent(name)));
  });

  test('a pod that needs nothing of it can be deleted; once it answers, everything is in order', async () => {
    const world = await startWithPods();
    world.hanging.add(name);
    await reconcile(world);
    const deleted = await world.call('DEL', 'plain');
    expect(deleted).not.toContain('BACKEND_SILENT');
    expect(world.routeTo(plain)).toBeUndefined();
    world.hanging.clear();
    world.dropRoute(ports);
    expect((await reconcile(world)).failures).toEqual([]);
    expect(world.routeTo(ports)).toBeDefined();
    const { json } = await world.get('/v1/status');
    expect(json).toMatchObject({ ready: true, problem: null, lastReconcile: { failures: [] } });
  });

  test('metrics count the calls that were left behind', async () => {
    const world = await startWithPods();
    const count = async (): Promise<string | undefined> =>
      (await world.get('/metrics')).text
        .split('\n')
        .find((line) => line.startsWith(`podwire_engine_abandoned_calls_total{backend="${name}"}`))
        ?.split(' ')[1];
    expect(await count()).toBe('0');
    world.hanging.add(name);
    await reconcile(world);
    // The silent backend is asked once in a reconcile.
    expect(await count()).toBe('1');
  });
});

const containingChange = (what: string): unknown =>
  expect.objectContaining({ action: 'repaired', what: containing(what) });
