/** The REST API of a master, over real HTTP. */
import net from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ask, askLeader, Masters } from './masters.js';

const masters: Masters[] = [];

afterEach(async () => {
  for (const each of masters.splice(0)) await each.stop();
});

async function start(): Promise<{ readonly url: string; readonly bed: Masters }> {
  const bed = new Masters();
  masters.push(bed);
  // Longer than any test takes: a machine under load must not lose the lead.
  const { url } = await bed.start({ ttl: 30_000 });
  await askLeader(`${url}/version`);
  return { url, bed };
}

const web = {
  ...{ tenantName: 'default', networkName: 'web', encap: 'vxlan', subnet: '10.1.1.0/24' },
  gateway: '10.1.1.254',
};
const json = { 'Content-Type': 'application/json' };
const endpoint = {
  TenantName: 'default',
  NetworkName: 'web',
  EndpointID: 'c1',
  ConfigEP: { Container: 'c1' },
};

test('objects are made, listed, inspected and deleted, with the paths of the original', async () => {
  const { url } = await start();
  const key = `${url}/api/v1/networks/default:web/`;
  const made = await ask(key, 'POST', web);
  expect(made).toMatchObject({ status: 200, json: { key: 'default:web', encap: 'vxlan' } });
  expect(made.headers.get('content-type')).toBe('application/json');
  expect((await ask(key, 'PUT', web)).json).toEqual(made.json);
  expect((await ask(key)).json).toEqual(made.json);
  expect((await ask(`${url}/api/v1/networks/`)).json).toEqual([made.json]);
  expect((await ask(`${url}/api/v1/networks/default%3Aweb`)).json).toEqual(made.json);
  expect((await ask(`${url}/api/v1/inspect/networks/default:web/`)).json).toMatchObject({
    Config: { key: 'default:web' },
    Oper: { pktTag: 1, externalPktTag: 1, availableIPAddresses: '10.1.1.1-10.1.1.253' },
  });
  expect(await ask(key, 'DELETE')).toMatchObject({ status: 200, json: 'default:web' });
  expect(await ask(key)).toMatchObject({ status: 404, text: 'there is no network default:web\n' });
  expect(await ask(key, 'DELETE')).toMatchObject({ status: 404 });
});

test('endpoints come and go by the calls of agents', async () => {
  const { url } = await start();
  await ask(`${url}/api/v1/networks/default:web/`, 'POST', web);
  const call = (name: string, body: unknown) => ask(`${url}/plugin/${name}`, 'POST', body, json);
  const made = await call('createEndpoint', endpoint);
  expect(made).toMatchObject({ status: 200, json: { EndpointConfig: { ipAddress: '10.1.1.1' } } });
  expect((await call('createEndpoint', endpoint)).json).toEqual(made.json);
  expect((await ask(`${url}/api/v1/inspect/endpoints/c1/`)).json).toMatchObject({
    Oper: { key: 'c1', ipAddress: ['10.1.1.1', ''], network: 'web.default' },
  });
  const refused = await ask(`${url}/api/v1/networks/default:web/`, 'DELETE');
  expect(refused).toMatchObject({
    status: 409,
    text: 'network default:web cannot be deleted while it is in use by endpoint web.default-c1\n',
  });
  expect(refused.headers.get('podwire-code')).toBe('OBJECT_IN_USE');
  const update = {
    Tenant: 'default',
    Network: 'web',
    EndpointID: 'c1',
    Event: 'start',
    Labels: { app: 'x' },
  };
  expect(await call('updateEndpoint', { ...update, IPAddress: '10.1.1.1' })).toMatchObject({
    json: { IPAddress: '10.1.1.1' },
  });
  expect((await ask(`${url}/api/v1/inspect/endpoints/c1/`)).text).toContain('map[app:x]');
  const gone = await call('deleteEndpoint', { TenantName: 'default', NetworkName: 'web', EndpointID: 'c1' });
  expect(gone).toMatchObject({ status: 200, json: { EndpointConfig: { ipAddress: '10.1.1.1' } } });
  expect(await ask(`${url}/api/v1/networks/default:web/`, 'DELETE')).toMatchObject({ status: 200 });
});

test('endpoints that no agent deletes are cleaned up by hand', async () => {
  const { url } = await start();
  await ask(`${url}/api/v1/networks/default:web/`, 'POST', web);
  const attach = (id: string) =>
    ask(`${url}/plugin/createEndpoint`, 'POST', { ...endpoint, ConfigEP: { Container: id } }, json);
  for (const id of ['c1', 'c2', 'c3']) await attach(id);
  const clean = (path: string) => ask(`${url}/debug/epcleanup/tenant/${path}`, 'DELETE');
  expect(await clean('default/ep/c2')).toMatchObject({ status: 200, json: 'deleted 1 endpoints' });
  expect(await clean('blue/ep/c1')).toMatchObject({ json: 'deleted 0 endpoints' });
  expect(await clean('default/net/x')).toMatchObject({ status: 404 });
  expect(await clean('default/color/x')).toMatchObject({
    ...{ status: 400, text: 'epcleanup: category must be net, group or ep\n' },
  });
  expect(await clean('default/net/web')).toMatchObject({ json: 'deleted 2 endpoints' });
  expect(await ask(`${url}/api/v1/networks/default:web/`, 'DELETE')).toMatchObject({ status: 200 });
});

test('addresses are reserved and released', async () => {
  const { url } = await start();
  await ask(`${url}/api/v1/networks/default:web/`, 'POST', web);
  const call = (name: string, body: unknown) => ask(`${url}/plugin/${name}`, 'POST', body, json);
  const preferred = { NetworkID: 'web.default', AddressPool: '', PreferredIPv4Address: '10.1.1.77' };
  expect((await call('allocAddress', preferred)).json).toEqual({
    ...{ NetworkID: 'web.default', IPv4Address: '10.1.1.77/24' },
  });
  expect(await call('allocAddress', preferred)).toMatchObject({ status: 409 });
  const release = { NetworkID: 'web.default', IPv4Address: '10.1.1.77' };
  expect(await call('releaseAddress', release)).toMatchObject({ status: 200, json: 'success' });
  expect(await call('allocAddress', preferred)).toMatchObject({ status: 200 });
});

/** Every route that takes a body. */
const routes: readonly (readonly [method: string, path: string])[] = [
  ...[
    'tenants/x',
    'networks/x:y',
    'endpointGroups/x:y',
    'policys/x:y',
    'rules/x:y:z',
    'netprofiles/x:y',
  ].flatMap((path) => ['PUT', 'POST'].map((method) => [method, `/api/v1/${path}/`] as const)),
  ...(['PUT', 'POST'] as const).map((method) => [method, '/api/v1/appProfiles/x:y/'] as const),
  ...(['PUT', 'POST'] as const).map((method) => [method, '/api/v1/globals/global/'] as const),
  ...['allocAddress', 'releaseAddress', 'createEndpoint', 'deleteEndpoint', 'updateEndpoint'].map(
    (name) => ['POST', `/plugin/${name}`] as const,
  ),
];

let deep: unknown = 1;
for (let level = 0; level < 1_000; level++) deep = [deep];

test.each(routes)('%s %s refuses wrong bodies with the field, and stores nothing', async (method, path) => {
  const { url, bed } = await start();
  await ask(`${url}/api/v1/tenants/`);
  const { revision } = bed.server;
  const bodies = ['', '{', 'null', '[]', '"x"', '7', '{"color":"red"}', '{"tenantName":7,"TenantName":{}}'];
  for (const body of [...bodies, JSON.stringify({ tenantName: deep }), '\u0000', '{"__proto__":{"x":1}}']) {
    const answer = await ask(url + path, method, body, json);
    expect(answer.status, body).toBeGreaterThanOrEqual(400);
    expect(answer.status, body).toBeLessThan(500);
    expect(answer.text, body).toMatch(/: (body|key|color|[\w.]+) (must|is|names|cannot)|levels|more than/);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  }
  expect(bed.server.revision).toBe(revision);
});

test('a body of more than a megabyte is refused', async () => {
  const { url } = await start();
  const body = JSON.stringify({ tenantName: 'x'.repeat(1 << 20) });
  expect(await ask(`${url}/api/v1/tenants/x/`, 'PUT', body)).toMatchObject({ status: 413 });
});

test('a body of too many fields is refused, and links that clients send back are none of them', async () => {
  const { url } = await start();
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, number) => [`f${number}`, 1]));
  const put = (more: object) => ask(`${url}/api/v1/tenants/x/`, 'PUT', { tenantName: 'x', ...more });
  const refused = await put(many(60_000));
  expect(refused).toMatchObject({
    status: 413,
    text: 'tenant x: the body has more than 4096 fields and items\n',
  });
  expect(await put({ deep: { list: Array.from({ length: 5_000 }, () => 1) } })).toMatchObject({
    status: 413,
  });
  expect(await put({ 'link-sets': { Networks: many(10_000) } })).toMatchObject({ status: 200 });
});

test.each([
  ['GET', '/', 404],
  ['GET', '/api/v1/colors/', 404],
  ['GET', '/api/v1/networks/a/b/', 404],
  ['GET', '/api/v1/inspect/networks/', 404],
  ['GET', '/api/v1/inspect/rules/x:y:z/', 404],
  ['GET', '/api/v1/inspect/endpoints/x/', 404],
  ['GET', '/plugin/colors', 404],
  ['GET', '/api/v1/networks/%zz/', 404],
  ['GET', '/plugin/createEndpoint', 405],
  ['PATCH', '/api/v1/networks/default:web/', 405],
  ['POST', '/api/v1/networks/', 405],
  ['POST', '/api/v1/inspect/networks/default:web/', 405],
  ['POST', '/version', 405],
  ['GET', '/debug/epcleanup/tenant/default/net/web', 405],
  ['DELETE', '/debug/epcleanup/tenant/default/net', 404],
  ['GET', '/api/v1/serviceLBs/', 501],
  ['GET', '/api/v1/Bgps/node1/', 501],
  ['GET', '/api/v1/inspect/serviceLBs/x:y/', 501],
])('%s %s is answered with %d', async (method, path, status) => {
  const { url } = await start();
  expect((await ask(url + path, method)).status).toBe(status);
});

test('calls of agents must be JSON by their header', async () => {
  const { url } = await start();
  const call = (type: string) =>
    ask(`${url}/plugin/createEndpoint`, 'POST', JSON.stringify(endpoint), { 'Content-Type': type });
  expect(await call('text/plain')).toMatchObject({ status: 415 });
  expect((await call('application/json; charset=utf-8')).status).toBe(404);
});

test('the version is that of the program', async () => {
  const { url } = await start();
  expect((await ask(`${url}/version`)).json).toEqual({ GitCommit: '', Version: '1.2.3', BuildTime: '' });
});

test('a caller that goes in the middle of a request leaves the master as it was', async () => {
  const { url } = await start();
  const { port } = new URL(url);
  const socket = net.connect(Number(port), '127.0.0.1');
  socket.write('PUT /api/v1/tenants/x/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"tenant');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.destroy();
  expect((await ask(`${url}/api/v1/tenants/`)).json).toHaveLength(1);
});
