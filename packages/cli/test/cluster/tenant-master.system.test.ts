/** Masters of the model tenant as processes, on real etcd: one is killed, and both start again. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { silentLog, systemClock } from '@podwire/platform';
import { openEtcdStore } from '@podwire/store/etcd';
import { type RunningProcess, start, until } from '@podwire/testkit';
import { startEtcd } from '@podwire/testkit/etcd';

const program = path.resolve(import.meta.dirname, '../../../../../bin/podwire');

interface Master {
  readonly process: RunningProcess;
  readonly url: string;
}

/** Resolves when it listens, on a port that was free. */
async function startMaster(words: readonly string[], context: TestContext): Promise<Master> {
  const master = start([program, ...words]);
  context.after(async () => {
    master.kill('SIGKILL');
    await master.exited;
  });
  const [, address] = await master.waitForOutput(/"address":"([^"]+)","msg":"the master listens"/);
  return { process: master, url: `http://${address}` };
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
  readonly text: string;
}

async function ask(url: string, method = 'GET', body?: unknown): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

/** Asks again while no master leads. */
const askLeader = (...parameters: Parameters<typeof ask>): Promise<Answer> =>
  until('a master leads', async () => {
    const answer = await ask(...parameters);
    return answer.status === 503 ? undefined : answer;
  });

const network = {
  ...{ tenantName: 'default', networkName: 'web', encap: 'vxlan', subnet: '10.1.1.0/24' },
  gateway: '10.1.1.254',
};

const attach = async ({ url }: Master, container: string): Promise<string> => {
  const ids = { TenantName: 'default', NetworkName: 'web', ServiceName: 'g', EndpointID: container };
  const ConfigEP = { Container: container, Host: 'node1', ServiceName: 'g' };
  const { json, text } = await askLeader(`${url}/plugin/createEndpoint`, 'POST', { ...ids, ConfigEP });
  const { EndpointConfig } = json as { EndpointConfig?: { ipAddress: string } };
  assert.ok(EndpointConfig, text);
  return EndpointConfig.ipAddress;
};

test(
  'a master that is killed is replaced, and nothing is handed out twice',
  { timeout: 180_000 },
  async (context) => {
    const etcd = await startEtcd({});
    context.after(() => etcd.close());
    const store = await openEtcdStore(etcd.spec, { log: silentLog, clock: systemClock });
    context.after(() => store.close());
    const endpoints = ['--etcd-endpoints', etcd.spec.endpoints[0]!];
    const here = ['--external-address', '127.0.0.1:0'];
    const begin = (): Promise<Master> => startMaster(['netmaster', ...endpoints, ...here], context);

    const first = await begin();
    assert.equal((await askLeader(`${first.url}/api/v1/networks/default:web/`, 'POST', network)).status, 200);
    const second = await begin();
    const group = { tenantName: 'default', groupName: 'g', networkName: 'web' };
    assert.equal((await ask(`${second.url}/api/v1/endpointGroups/default:g/`, 'POST', group)).status, 200);
    assert.equal(await attach(second, 'c1'), '10.1.1.1');
    assert.equal(await attach(first, 'c2'), '10.1.1.2');

    first.process.kill('SIGKILL');
    await first.process.exited;
    assert.equal(await attach(second, 'c3'), '10.1.1.3');
    assert.equal(await attach(second, 'c1'), '10.1.1.1');

    const third = await begin();
    assert.equal(await attach(third, 'c4'), '10.1.1.4');
    for (const { process } of [second, third]) await process.stop();

    const fourth = await begin();
    const inspect = await askLeader(`${fourth.url}/api/v1/inspect/endpointGroups/default:g/`);
    const { Oper } = inspect.json as { Oper: { endpoints: { endpointID: string }[]; numEndpoints: number } };
    assert.deepEqual(Oper.endpoints.map(({ endpointID }) => endpointID).sort(), ['c1', 'c2', 'c3', 'c4']);
    assert.equal(Oper.numEndpoints, 4);
    const { items } = await store.list('/contiv.io/state/nets/');
    assert.equal((JSON.parse(items[0]!.value) as { epCount: number }).epCount, 4);
    const refused = await ask(`${fourth.url}/api/v1/networks/default:web/`, 'DELETE');
    assert.equal(refused.status, 409);
    assert.match(refused.text, /in use by endpointGroup default:g, endpoint web\.default-c1,/);
  },
);

test(
  'the store may be away, and what was refused meanwhile is not there later',
  { timeout: 120_000 },
  async (context) => {
    const etcd = await startEtcd({});
    context.after(() => etcd.close());
    const store = ['--store', etcd.spec.endpoints[0]!.replace('http', 'etcd')];
    const words = ['controller', ...store, '--model', 'tenant', '--listen', '127.0.0.1:0'];
    const master = await startMaster(words, context);
    assert.equal(
      (await askLeader(`${master.url}/api/v1/networks/default:web/`, 'POST', network)).status,
      200,
    );
    await etcd.members[0]!.stop();
    assert.equal(
      (await ask(`${master.url}/api/v1/tenants/blue/`, 'PUT', { tenantName: 'blue' })).status,
      503,
    );
    await etcd.members[0]!.start();
    const wrong = await askLeader(`${master.url}/api/v1/tenants/red/`, 'PUT', { tenantName: 'red' });
    assert.equal(wrong.status, 200);
    assert.equal((await ask(`${master.url}/api/v1/tenants/blue/`)).status, 404);
  },
);
