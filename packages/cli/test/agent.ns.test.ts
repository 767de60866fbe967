/**
 * The commands against a real agent in a private host, in the order in which people meet them: install, status, cni add, pods,
 * explain, reconcile, trace, ipam, plan, cni del, uninstall. Each is the real program, started as a process.
 */
import type {} from '@podwire/backend-linux/resources';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Agent,
  CommandError,
  createPrivateHost,
  type PrivateHost,
  startAgent,
  type TestNamespace,
} from '@podwire/testkit';
import type { EndpointView, Plan } from '../src/api/shapes.js';
import { checkoutFile } from '../src/checkout.js';
import type { Explanation } from '../src/commands/explain.js';

const podwire = [process.execPath, checkoutFile('bin/podwire')];

let host: PrivateHost;
let agent: Agent;
let pod: TestNamespace;

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program on the host; as its agent's socket says the environment. */
async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
  const all = { ...process.env, PODWIRE_SOCKET: agent.apiSocket, ...env };
  try {
    return { code: 0, stdout: await host.run([...podwire, ...argv], { env: all }), stderr: '' };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { code: error.exit.code, stdout: error.stdout, stderr: error.stderr };
  }
}

async function json<T>(argv: readonly string[], code = 0): Promise<T> {
  const result = await run([...argv, '-o', 'json']);
  assert.equal(result.code, code, result.stdout + result.stderr);
  return JSON.parse(result.stdout) as T;
}

const at = (name: string): string => path.join(host.directory, name);

/** Environment that a runtime passes for a pod with a host port. */
const cniEnvironment = (): Record<string, string> => ({
  NETCONFPATH: at('net.d'),
  CNI_PATH: at('bin'),
  CNI_ARGS: 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web',
  CAP_ARGS: JSON.stringify({ portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] }),
});

const cni = (...words: string[]): Promise<Run> =>
  run(['cni', ...words, '--cache-dir', at('cache')], cniEnvironment());

before(async () => {
  host = await createPrivateHost({ name: 'cli', world: true });
  // A change that a test makes behind its back stays until it is asked for.
  agent = await startAgent(host, { entry: [...podwire, 'agent'], config: { watchDrift: false } });
  pod = host.addPod('web');
});
after(() => host?.close());

test('install puts plugin and network in place, and again changes nothing', async () => {
  const folders = ['--cni-bin-dir', at('bin'), '--cni-conf-dir', at('net.d'), '--cni-socket', agent.socket];
  const first = await json<{ changes: { path: string; action: string }[] }>(['install', ...folders]);
  assert.ok(
    first.changes.some(({ path: file, action }) => file === at('bin/podwire-cni') && action === 'created'),
  );
  const second = await run(['install', ...folders]);
  assert.equal(second.code, 0);
  assert.match(second.stdout, /^unchanged .*podwire-cni$/m);
});

test('status is ready, and the agent is told by --config too', async () => {
  const status = await json<{ ready: boolean; node: string }>([
    'status',
    '--wait',
    '--config',
    agent.configFile,
  ]);
  assert.equal(status.ready, true);
  assert.match((await run(['status'])).stdout, /^agent on node1: ready\n/);
});

/** The MAC address is made up each time. */
const withoutMac = (value: unknown): string => JSON.stringify(value).replaceAll(/(..:){5}../g, 'MAC');

test('a plan without an agent is that of an agent with nothing on it', async () => {
  const manifests = ['web', 'limited'].map((name) => checkoutFile(`examples/${name}.yaml`));
  const offline = await json<{ source: string; pods: Plan[] }>(['plan', '--offline', ...manifests]);
  const online = await json<{ source: string; pods: Plan[] }>(['plan', ...manifests]);
  assert.deepEqual([offline.source, online.source], ['configuration', 'agent']);
  assert.deepEqual(offline.pods.map(withoutMac), online.pods.map(withoutMac));
});

test('plan by the agent says what ADD will do, and touches nothing', async () => {
  const manifest = checkoutFile('examples/web.yaml');
  const before_ = await host.run(['ip', '-o', 'link']);
  const { source, pods } = await json<{ source: string; pods: Plan[] }>(['plan', manifest]);
  assert.equal(source, 'agent');
  assert.equal(await host.run(['ip', '-o', 'link']), before_);
  assert.deepEqual(await json(['pods']), { endpoints: [] });
  const added = await cni('add', 'podwire', pod.path);
  assert.equal(added.code, 0, added.stderr);
  const [endpoint] = (await json<{ endpoints: EndpointView[] }>(['pods'])).endpoints;
  assert.ok(endpoint !== undefined);
  assert.deepEqual(endpoint.addresses, pods[0]?.addresses);
  const { resources } = await json<Explanation>(['explain', 'pod/shop/web']);
  assert.deepEqual(
    resources.map(({ resource }) => withoutMac(resource)),
    pods[0]?.resources.map(withoutMac),
  );
});

test('a plan knows the host ports that are taken', async () => {
  const manifest = at('other.yaml');
  fs.writeFileSync(
    manifest,
    fs.readFileSync(checkoutFile('examples/web.yaml'), 'utf8').replace('name: web', 'name: other'),
  );
  const { code, stderr } = await run(['plan', manifest]);
  assert.equal(code, 1);
  assert.match(stderr, /host port .*8080.* is taken by pod shop\/web[^]*PORT_IN_USE/);
});

test('a pod that is on the node already is planned as if it were not', async () => {
  const { pods } = await json<{ pods: Plan[] }>(['plan', checkoutFile('examples/web.yaml')]);
  const [endpoint] = (await json<{ endpoints: EndpointView[] }>(['pods'])).endpoints;
  const [veth] = pods[0]?.resources ?? [];
  assert.ok(veth?.kind === 'veth');
  assert.equal(veth.host.name, endpoint?.hostInterface);
});

test('pods shows it', async () => {
  const { stdout } = await run(['ps', '-A', '-o', 'wide']);
  assert.match(
    stdout,
    /^shop\/web +- +attached +- +10\.244\.0\.1 fd00:244::1 +\d+s +cali\w+ +8080→80\/tcp +- +default +/m,
  );
  assert.equal((await run(['pods', '-o', 'name'])).stdout, 'pod/shop/web\n');
});

test('explain finds what was changed behind the back of the agent; reconcile repairs it', async () => {
  assert.equal((await run(['explain', 'pod/shop/web'])).code, 0);
  assert.equal((await run(['explain', 'node'])).code, 0);
  await host.namespace.ip('route del 10.244.0.1/32');
  const drift = await run(['explain', 'web', '--drift']);
  assert.equal(drift.code, 4);
  assert.match(drift.stdout, /✗ +node +route 10\.244\.0\.1\/32 .* missing: /);
  assert.match(drift.stdout, /what to do: "podwire reconcile"/);
  const repaired = await run(['reconcile']);
  assert.equal(repaired.code, 0);
  assert.match(repaired.stdout, /^repaired +route 10\.244\.0\.1\/32 /);
  assert.match((await run(['explain', 'web'])).stdout, /All \d+ are in the kernel as planned\./);
});

test('trace shows the stages of the ADD', async () => {
  const { stdout } = await run(['trace', 'pod/web', '--full']);
  assert.match(stdout, /^ADD shop\/web: ok, [\d.]+ m?s in the agent/);
  for (const stage of ['plan', 'record', 'apply', 'answer'])
    assert.match(stdout, new RegExp(`^${stage} +[\\d.]+ ms +[█▉▊▋▌▍▎▏]`, 'm'));
  assert.match(stdout, /^ {2}veth cali\w+ to eth0/m);
  const trace = await json<{ duration: number; stages: { duration: number }[] }>(['trace', 'last']);
  const sum = trace.stages.reduce((total, { duration }) => total + duration, 0);
  assert.ok(sum <= trace.duration);
});

test('ipam shows who has an address, and what may be asked for', async () => {
  const used = await json<{ state: string; owner: string }>(['ipam', 'show', '--ip', '10.244.0.1']);
  assert.equal(used.state, 'used');
  assert.match(used.owner, /^podwire,cnitool-[0-9a-f]{20},eth0$/);
  assert.match((await run(['ipam', 'show', '--ip', '10.244.0.9'])).stdout, /unallocated/);
  assert.match((await run(['ipam', 'show', '--ip', '10.244.0.0'])).stdout, /not available: .*reserved/);
  assert.match((await run(['ipam', 'show', '--ip', '8.8.8.8'])).stdout, /not available: .*no pool/);
  assert.match((await run(['ipam', 'show'])).stdout, /^10\.244\.0\.0\/16 +65536 +1 /m);
});

test('the socket for plugins is no API, and the error says so', async () => {
  const { code, stderr } = await run(['pods', '--socket', agent.socket]);
  assert.equal(code, 3);
  assert.match(stderr, /apiSocket|socket for plugins/);
});

test('cni check, status and del; then the pod is gone', async () => {
  assert.equal((await cni('check', 'podwire', pod.path)).code, 0);
  assert.equal((await cni('status', 'podwire')).code, 0);
  assert.equal((await cni('del', 'podwire', pod.path)).code, 0);
  const gone = await run(['explain', 'pod/shop/web']);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /ENDPOINT_UNKNOWN/);
  assert.match((await run(['trace', 'web', '--verb', 'del'])).stdout, /^DEL shop\/web: ok/);
});

test('uninstall leaves nothing', async () => {
  const { code } = await run(['uninstall', '--cni-bin-dir', at('bin'), '--cni-conf-dir', at('net.d')]);
  assert.equal(code, 0);
  assert.deepEqual([fs.existsSync(at('bin')), fs.existsSync(at('net.d'))], [false, false]);
});

test('an agent that has ended is told from one that never was', async () => {
  await agent.stop();
  const { code, stderr } = await run(['status']);
  assert.equal(code, 3);
  assert.match(stderr, /no agent answers at /);
});
