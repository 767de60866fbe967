/** Several masters over one store: one leads, the others hand requests on. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { leaderKey } from '@podwire/cluster-tenant';
import type { MemoryFaults } from '@podwire/store/memory';
import { ask, askLeader, Masters, type RunningMaster } from './masters.js';

const beds: Masters[] = [];

afterEach(async () => {
  for (const each of beds.splice(0)) await each.stop();
});

function createBed(): Masters {
  const bed = new Masters();
  beds.push(bed);
  return bed;
}

const putTenant = (url: string, name: string) =>
  askLeader(`${url}/api/v1/tenants/${name}/`, 'PUT', { tenantName: name });

const namesAt = async (url: string): Promise<unknown> => {
  const { json } = await askLeader(`${url}/api/v1/tenants/`);
  return (json as { key: string }[]).map(({ key }) => key).sort();
};

test('one that does not lead answers as the leader does', async () => {
  const bed = createBed();
  const first = await bed.start();
  await askLeader(`${first.url}/version`);
  const second = await bed.start();
  const made = await putTenant(second.url, 'blue');
  expect(made).toMatchObject({ status: 200, json: { key: 'blue' } });
  expect(made.headers.get('content-type')).toBe('application/json');
  expect(await namesAt(first.url)).toEqual(['blue', 'default']);
  expect(await namesAt(second.url)).toEqual(['blue', 'default']);
  const wrong = await askLeader(`${second.url}/api/v1/tenants/red/`, 'PUT', { tenantName: 'blue' });
  expect(wrong).toMatchObject({ status: 400, text: 'tenant red: key must be that of the fields, blue\n' });
  expect(wrong.headers.get('podwire-code')).toBe('REQUEST_INVALID');
  const json = { 'Content-Type': 'text/plain' };
  expect((await askLeader(`${second.url}/plugin/createEndpoint`, 'POST', '{}', json)).status).toBe(415);
});

test('another one leads when the leader ends, and goes on with what is there', async () => {
  const bed = createBed();
  const first = await bed.start();
  await putTenant(first.url, 'blue');
  const second = await bed.start();
  await first.stop();
  await putTenant(second.url, 'red');
  expect(await namesAt(second.url)).toEqual(['blue', 'default', 'red']);
  const third = await bed.start();
  expect(await namesAt(third.url)).toEqual(['blue', 'default', 'red']);
});

test('one whose lock is taken away writes nothing more, even before it knows', async () => {
  const bed = createBed();
  const faults: MemoryFaults = {};
  const first = await bed.start({ store: bed.server.connect(faults), ttl: 30_000 });
  await putTenant(first.url, 'blue');
  faults.latency = ({ operation }) => (operation === 'watch' ? 60_000 : 0);
  const store = bed.server.connect();
  await store.delete(leaderKey);
  await store.put(leaderKey, '127.0.0.1:1');
  const { revision } = bed.server;
  const answer = await ask(`${first.url}/api/v1/tenants/red/`, 'PUT', { tenantName: 'red' });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('podwire-code')).toBe('STORE_CONFLICT');
  expect(bed.server.revision).toBe(revision);
  expect((await store.list('/contiv.io/obj/modeldb/tenant/')).items).toHaveLength(2);
});

test.each([
  ['is stopped', (_bed: Masters, master: RunningMaster) => master.stop()],
  ['loses its lock', (bed: Masters) => bed.server.connect().delete(leaderKey)],
])('a request under way when the leader %s is to be tried again', async (_, end) => {
  const bed = createBed();
  const faults: MemoryFaults = {};
  const master = await bed.start({ store: bed.server.connect(faults), ttl: 30_000 });
  await putTenant(master.url, 'blue');
  const asked = new Promise<void>((resolve) => {
    faults.latency = ({ operation }) => {
      if (operation !== 'transact') return 0;
      resolve();
      return 60_000;
    };
  });
  const answer = ask(`${master.url}/api/v1/tenants/red/`, 'PUT', { tenantName: 'red' });
  await asked;
  await end(bed, master);
  expect(await answer).toMatchObject({
    status: 503,
    text: expect.stringMatching(/^this master leads no more/) as unknown,
  });
  expect((await answer).headers.get('podwire-code')).toBe('STORE_UNAVAILABLE');
});

test('one without a host listens at all addresses', async () => {
  const { url } = await createBed().start({ listen: { host: '', port: 0 }, ttl: 30_000 });
  const { port } = new URL(url);
  expect((await askLeader(`http://127.0.0.1:${port}/version`)).status).toBe(200);
});

test('a request that was handed on is not handed on again', async () => {
  const bed = createBed();
  const store = bed.server.connect();
  const { url } = await (async () => {
    await store.put(leaderKey, '127.0.0.1:1');
    return bed.start();
  })();
  await store.put(leaderKey, new URL(url).host);
  const answer = await ask(`${url}/api/v1/tenants/`);
  expect(answer).toMatchObject({ status: 503, text: 'Leader not found\n' });
});

test('a leader that does not answer is named', async () => {
  const bed = createBed();
  await bed.server.connect().put(leaderKey, '127.0.0.1:1');
  const { url } = await bed.start();
  const answer = await ask(`${url}/api/v1/tenants/`);
  expect(answer.status).toBe(503);
  expect(answer.text).toContain('the leader 127.0.0.1:1 does not answer');
});

test('what stands in the lock and is no address is not asked', async () => {
  const bed = createBed();
  await bed.server.connect().put(leaderKey, 'http://127.0.0.1:1/x');
  const { url } = await bed.start();
  expect(await ask(`${url}/api/v1/tenants/`)).toMatchObject({ status: 503, text: 'Leader not found\n' });
});

test('a leader that ends in the middle of an answer ends the answer', async () => {
  const leader = http.createServer((_, response) => {
    response.writeHead(200, { 'Content-Length': 100 });
    response.write('[', () => response.destroy());
  });
  await new Promise<void>((resolve) => leader.listen(0, '127.0.0.1', resolve));
  const bed = createBed();
  await bed.server.connect().put(leaderKey, `127.0.0.1:${(leader.address() as AddressInfo).port}`);
  const { url } = await bed.start();
  await expect(ask(`${url}/api/v1/tenants/`)).rejects.toThrow();
  await new Promise((resolve) => leader.close(resolve));
});

test('an item that cannot be read is named to callers, and all goes on once it is gone', async () => {
  const bed = createBed();
  const store = bed.server.connect();
  const key = '/contiv.io/state/eps/web.default-c1';
  await store.put(key, '{}');
  const { url } = await bed.start();
  const wrong = await askLeader(`${url}/api/v1/tenants/`);
  expect(wrong.status).toBe(500);
  expect(wrong.text).toContain(`${key} cannot be read`);
  await store.delete(key);
  await vi.waitUntil(async () => (await ask(`${url}/api/v1/tenants/default/`)).status === 200, 30_000);
});

test('settings of the command line are taken at the start, unless networks were made by others', async () => {
  const bed = createBed();
  const first = await bed.start({ settings: { fwdMode: 'routing' } });
  const settings = async (url: string): Promise<unknown> =>
    (await askLeader(`${url}/api/v1/globals/global/`)).json;
  expect(await settings(first.url)).toMatchObject({ fwdMode: 'routing', vlans: '1-4094' });
  await askLeader(`${first.url}/api/v1/globals/global/`, 'PUT', { vlans: '1-100' });
  const network = { tenantName: 'default', networkName: 'web', encap: 'vlan', subnet: '10.1.1.0/24' };
  await askLeader(`${first.url}/api/v1/networks/default:web/`, 'PUT', network);
  await first.stop();
  const second = await bed.start({ settings: { fwdMode: 'bridge' } });
  expect(await settings(second.url)).toMatchObject({ fwdMode: 'routing', vlans: '1-100' });
});
