/**
 * `kill -9` at every step of policy: of the start, of a first policy, a changed one, an ADD and a DEL with policy, and of a removed
 * policy. While the agent is dead, what is allowed before and after goes through, and what is forbidden before and after does not. The
 * next life ends at what a life without a crash ends at.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Agent,
  assertBlocked,
  createPrivateHost,
  eventually,
  pings,
  type PrivateHost,
  reaches,
  serveEcho,
  type Snapshot,
  startAgent,
  takeSnapshot,
  type TestNamespace,
  untilSameSnapshot,
  worldAddresses,
} from '@podwire/testkit';
import { type FaultInjector, type Occurrence, openFaultInjector } from '@podwire/testkit/fault-injection';
import { askApi, callPlugin } from './fakes/plugin-client.js';

const entry = [process.execPath, path.join(import.meta.dirname, 'faulty-agent.js')];
const steps = /^(policy:|exchange:|add:selected|add:applied|teardown:)/;
const port = 7;

let host: PrivateHost;
let agent: Agent;
let objects: string;
let faults: FaultInjector;
const pods = new Map<string, TestNamespace>();
const addresses = new Map<string, string>();

const labelsOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  client: { role: 'client' },
  other: { role: 'other' },
  db: { app: 'db' },
  late: { app: 'db' },
};

before(async () => {
  host = await createPrivateHost({ name: 'polkill', world: { mtu: 1400 } });
  objects = path.join(host.directory, 'objects');
  fs.mkdirSync(objects);
  const config = { coolDown: '0s', objects: { directory: objects }, policy: { labelWait: '100ms' } };
  const orders = path.join(host.directory, 'orders');
  faults = openFaultInjector(orders);
  agent = await startAgent(host, { entry, config, env: { PODWIRE_FAULTS: orders } });
  for (const name of Object.keys(labelsOf)) pods.set(name, host.addPod());
  for (const name of ['client', 'other', 'db']) assert.ok(await call('ADD', name));
  for (const name of ['db', 'late']) await serveEcho(pods.get(name)!, 'tcp', '0.0.0.0', port);
});
after(async () => host.close());

/** @returns whether it was answered; a refusal fails */
async function call(command: 'ADD' | 'DEL', name: string): Promise<boolean> {
  const namespace = pods.get(name)!;
  const labels = Object.entries(labelsOf[name]!).map(([key, value]) => ({ key, value }));
  const answer = await callPlugin(agent.socket, {
    ...{ command, id: namespace.name, netns: namespace.path },
    args: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}`,
    config: { args: { cni: { labels } } },
  });
  if (answer === undefined) return false;
  assert.ok(answer.ok, `${command} ${name}: ${JSON.stringify(answer.json)}`);
  const [ip] = (answer.json['ips'] ?? []) as { address: string }[];
  if (ip !== undefined) addresses.set(name, ip.address.split('/')[0]!);
  return true;
}

const policy = (role: string): string => `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: db, namespace: shop }
spec:
  podSelector: { matchLabels: { app: db } }
  ingress:
    - from: [{ podSelector: { matchLabels: { role: ${role} } } }]
`;

interface State {
  readonly revision: number | null;
  readonly inForce: boolean;
  readonly counts: { readonly objects: number };
}

const stateOf = async (): Promise<State> => (await askApi(agent.apiSocket, '/v1/policy')) as unknown as State;

/** One change of file, and until it is in force. @returns false where the agent died */
async function change(work: () => void, objectCount: number): Promise<boolean> {
  try {
    const { revision } = await stateOf();
    work();
    let isDead = false;
    void agent.exited().then(() => (isDead = true));
    await eventually('the change is in force', async () => {
      if (isDead) return true;
      const now = await stateOf().catch(() => undefined);
      return (
        now !== undefined && now.revision !== revision && now.inForce && now.counts.objects === objectCount
      );
    });
    return !isDead;
  } catch {
    work();
    return false;
  }
}

const file = (): string => path.join(objects, 'db.yaml');
/** In one step: half a file is another test, and a second file in the directory would be a revision of its own. */
function write(text: string): void {
  const elsewhere = path.join(host.directory, 'db.yaml');
  fs.writeFileSync(elsewhere, text);
  fs.renameSync(elsewhere, file());
}

/** `client → db`: what may go through once the action is in force; anything else of the probed pairs may not. */
interface Action {
  readonly name: string;
  readonly run: () => Promise<boolean>;
  readonly allowed: readonly string[];
  /** A file stays as it was written before a crash; a runtime calls again. */
  readonly isDone: () => boolean;
}

const never = (): boolean => false;
const holds = (text: string | undefined) => (): boolean =>
  (fs.existsSync(file()) ? fs.readFileSync(file(), 'utf8') : undefined) === text;

const everything = ['client → db', 'other → db'];
const actions: readonly Action[] = [
  {
    name: 'a first policy',
    run: () => change(() => write(policy('client')), 1),
    allowed: ['client → db'],
    isDone: holds(policy('client')),
  },
  {
    name: 'a pod with policy comes',
    run: () => call('ADD', 'late'),
    allowed: ['client → db', 'client → late'],
    isDone: never,
  },
  {
    name: 'the policy is another one',
    run: () => change(() => write(policy('other')), 1),
    allowed: ['other → db', 'other → late'],
    isDone: holds(policy('other')),
  },
  { name: 'the pod goes', run: () => call('DEL', 'late'), allowed: ['other → db'], isDone: never },
  {
    name: 'the policy goes',
    run: () => change(() => fs.rmSync(file(), { force: true }), 0),
    allowed: everything,
    isDone: holds(undefined),
  },
];

/** Over TCP: of datagrams the kernel remembers a port, and what takes the same one again counts as established. */
async function assertPasses(from: string, to: string, message: string): Promise<void> {
  assert.ok(await reaches(pods.get(from)!, 'tcp', addresses.get(to)!, port), message);
}

/** No packet of the pod arrives, whether or not the other one is still wired: the markers go to one that always is. */
async function assertDenied(from: string, to: string): Promise<void> {
  const sendMarker = async (): Promise<void> => {
    assert.ok(await pings(pods.get(from)!, worldAddresses.host.ipv4), 'a marker to the node');
    assert.ok(await pings(host.namespace, addresses.get('db')!), 'a marker from the node');
  };
  const source = addresses.get(from)!;
  const attempt = { protocol: 'tcp', port, source, sendMarker } as const;
  await assertBlocked(pods.get(from)!, pods.get(to)!, addresses.get(to)!, [], attempt);
}

/** A connection on both lists must pass, and one on neither must not. A connection on a single list may do either. */
async function checkBetween(one: readonly string[], other: readonly string[], when: string): Promise<void> {
  const known = ['db', ...(addresses.has('late') ? ['late'] : [])];
  const pairs = ['client', 'other'].flatMap((from) => known.map((to) => [from, to] as const));
  const claims = pairs.map(async ([from, to]) => {
    const pair = `${from} → ${to}`;
    if (one.includes(pair) !== other.includes(pair)) return;
    if (one.includes(pair)) return assertPasses(from, to, `${when}: ${pair}`);
    await assertDenied(from, to).catch((error: unknown) => {
      throw new Error(`${when}: ${pair}`, { cause: error });
    });
  });
  await Promise.all(claims);
}

const take = (): Promise<Snapshot> =>
  takeSnapshot(host.namespace, { files: [path.join(agent.stateDirectory, 'endpoints')] });

/** @returns the index of the action at which it died; undefined: it did not */
async function liveUntilDeath(): Promise<number | undefined> {
  for (const [index, { run }] of actions.entries()) if (!(await run().catch(() => false))) return index;
  return undefined;
}

/** A next life takes up what the one before has left, and finishes. */
async function goOn(from: number, what: string): Promise<void> {
  await agent.start();
  for (const { name, run, allowed, isDone } of actions.slice(from)) {
    if (!isDone()) assert.ok(await run(), `${what}, then ${name}`);
    await eventually(`${what}: policy is in force`, async () => (await stateOf()).inForce);
    await checkBetween(allowed, allowed, `${what}, then ${name}`);
  }
  await askApi(agent.apiSocket, '/v1/reconcile', {});
  await untilSameSnapshot(whole, take);
}

let whole: Snapshot;
let occurrences: Occurrence[];

test('a life without a crash', async () => {
  for (const each of [1, 2]) {
    faults.clear();
    for (const { name, run, allowed } of actions) {
      assert.ok(await run(), name);
      await checkBetween(allowed, allowed, `${name}, life ${each}`);
    }
    await askApi(agent.apiSocket, '/v1/reconcile', {});
    // Only the second begins as all the others do.
    whole = await take();
  }
  occurrences = faults.occurrences().filter(({ point }) => steps.test(point));
});

test('death at each step of a change', { timeout: 300_000 }, async (context) => {
  const deaths = new Map<string, number>();
  for (const occurrence of occurrences) {
    faults.clear();
    faults.inject({ ...occurrence, signal: 'SIGKILL' });
    const died = await liveUntilDeath();
    // Changes may have come together this time.
    if (died === undefined) continue;
    await agent.exited();
    const { name, allowed } = actions[died]!;
    const what = `${occurrence.point} ${occurrence.skip}: ${name}`;
    deaths.set(name, (deaths.get(name) ?? 0) + 1);
    await checkBetween(actions[died - 1]?.allowed ?? everything, allowed, `${what}, dead`);
    await goOn(died, what);
  }
  for (const { name } of actions)
    assert.ok((deaths.get(name) ?? 0) >= 2, `${name}: ${deaths.get(name)} steps`);
  context.diagnostic(JSON.stringify(Object.fromEntries(deaths)));
});

test(
  'death at each step of a start, with a policy that has come meanwhile',
  { timeout: 300_000 },
  async (context) => {
    let step = 0;
    for (let isOver = false; !isOver;) {
      await agent.kill9();
      write(policy('client'));
      faults.clear();
      const started = agent.start({ FAULT_ONLY: steps.source, FAULT_AT: String(++step) });
      isOver = await started.then(
        () => true,
        () => false,
      );
      if (isOver) await agent.kill9();
      await agent.exited();
      await checkBetween(everything, ['client → db'], `step ${step} of the start, dead`);
      await agent.start();
      await eventually('policy is in force', async () => (await stateOf()).inForce);
      await checkBetween(['client → db'], ['client → db'], `after step ${step} of the start`);
      assert.ok(await change(() => fs.rmSync(file()), 0));
    }
    await agent.kill9();
    await goOn(0, 'after the last start');
    assert.ok(step > 3, `only ${step - 1} steps`);
    context.diagnostic(`died at ${step - 1} steps`);
  },
);
