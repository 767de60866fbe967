/** Pods of a real kube-apiserver in a network of the model ovn: real agents, OVN and etcd, and the permissions of the example. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ovnPodKind } from '@podwire/cluster-state';
import { checkObject, type IP } from '@podwire/objects';
import { defaultAgentEntry, eventually, type TestNamespace } from '@podwire/testkit';
import { type ApiServer, startApiServer } from '@podwire/testkit/kubernetes';
import { parseAllDocuments } from 'yaml';
import { keys, type Machine } from './fakes/cluster-fixture.js';
import { createOvnFixture, kubeOvnCniOf, type OvnFixture, referTo } from './fakes/ovn-fixture.js';
import { addPod, removePod } from './fakes/ovn-pods.js';

let fixture: OvnFixture;
let one: Machine;
let two: Machine;
let api: ApiServer;

const prefix = 'ovn.kubernetes.io/';
const namespaced = '/api/v1/namespaces/shop/pods';

interface ApiPod {
  readonly metadata: { readonly uid: string; readonly annotations?: Readonly<Record<string, string>> };
}

interface ApiEvent {
  readonly involvedObject: { readonly name: string };
  readonly reason: string;
  readonly type: string;
  readonly message: string;
}

before(async () => {
  fixture = await createOvnFixture('ovn-api');
  [one, two] = fixture.machines as [Machine, Machine];
  api = await startApiServer(one.host);
  await grantExample();
  await startFollowing();
  const subnet = checkObject({
    ...{ apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'blue' } },
    spec: { cidrBlock: '10.17.0.0/24' },
  });
  assert.ok(subnet.ok);
  await fixture.apply(subnet.object);
  for (const { name } of [one, two]) await api.rest.post('/api/v1/nodes', { metadata: { name } });
  const annotations = { [`${prefix}logical_switch`]: 'blue' };
  await api.rest.post('/api/v1/namespaces', { metadata: { name: 'shop', annotations } });
});
after(async () => fixture?.close());

const example = path.resolve(import.meta.dirname, '../../../../contrib/kubernetes/ovn-controller.yaml');

/** For the user of the kubeconfig, who is no service account. */
async function grantExample(): Promise<void> {
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  const [role, binding] = parseAllDocuments(fs.readFileSync(example, 'utf8')).map(
    (each) => each.toJS() as object,
  );
  await api.rest.post(`${roles}/clusterroles`, role);
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'node' }];
  await api.rest.post(`${roles}/clusterrolebindings`, { ...binding, subjects });
}

async function startFollowing(): Promise<void> {
  await fixture.killController();
  await fixture.startController({ host: one.host, flags: ['--kubeconfig', api.kubeconfig] });
}

async function createPod(name: string, { name: nodeName }: Machine, metadata: object = {}): Promise<string> {
  const containers = [{ name: 'c', image: 'busybox' }];
  const object = { metadata: { name, ...metadata }, spec: { nodeName, containers } };
  return (await api.rest.post<ApiPod>(namespaced, object)).metadata.uid;
}

const deletePod = (name: string) => api.rest.delete(`${namespaced}/${name}`, { gracePeriodSeconds: 0 });

/** Waits until it is told that it is routed. @returns its annotations by the ends of their names */
async function untilAnswered(object: string, last = 'routed'): Promise<Readonly<Record<string, string>>> {
  let found: Readonly<Record<string, string>> = {};
  await eventually(`${object} is answered`, async () => {
    const { metadata } = await api.rest.get<ApiPod>(object);
    const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(prefix));
    found = Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
    return found[last] === 'true';
  });
  return found;
}

const recordOf = (name: string) => fixture.get(ovnPodKind, keys.ovnPod('shop', name));
const ipOf = async (name: string) => (await fixture.read(referTo('IP', `${name}.shop`))) as IP | undefined;

test('a pod has its address before its node asks, keeps it over sandboxes, and loses it with the pod', async () => {
  const uid = await createPod('web', one);
  const answer = await untilAnswered(`${namespaced}/web`);
  assert.equal(answer['logical_switch'], 'blue');
  assert.deepEqual([(await recordOf('web'))?.uid, (await recordOf('web'))?.source], [uid, 'kubernetes']);
  const first = await addPod(one, { name: 'web', uid });
  assert.deepEqual([first.addresses.join(','), first.mac], [answer['ip_address'], answer['mac_address']]);
  await removePod(first);
  const second = await addPod(one, { name: 'web', uid });
  assert.deepEqual([second.addresses, second.mac], [first.addresses, first.mac]);
  await deletePod('web');
  await eventually('its address is free', async () => (await ipOf('web')) === undefined);
  assert.equal(await recordOf('web'), undefined);
  await removePod(second);
});

/** The original's plugin, whose request has neither UID nor annotations. @returns the first address */
async function runKubeOvn(command: string, name: string, own: TestNamespace): Promise<string | undefined> {
  const { networkConfigDir } = kubeOvnCniOf(one.host);
  const text = fs.readFileSync(path.join(networkConfigDir, '01-kube-ovn.conflist'), 'utf8');
  const list = JSON.parse(text) as { name: string; cniVersion: string; plugins: object[] };
  const output = await one.host.run([path.join(path.dirname(defaultAgentEntry[0]!), 'kube-ovn')], {
    input: JSON.stringify({ name: list.name, cniVersion: list.cniVersion, ...list.plugins[0] }),
    env: {
      ...{ CNI_COMMAND: command, CNI_CONTAINERID: own.name, CNI_NETNS: own.path, CNI_IFNAME: 'eth0' },
      ...{ CNI_PATH: '/opt/cni/bin', CNI_ARGS: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name}` },
    },
  });
  if (command === 'DEL') return undefined;
  const { ips } = JSON.parse(output) as { ips: readonly { readonly address: string }[] };
  return ips[0]!.address.replace(/\/.*/, '');
}

test('the plugin of Kube-OVN gives each sandbox of a pod the address of the pod', async () => {
  await createPod('original', one);
  const { ip_address: address } = await untilAnswered(`${namespaced}/original`);
  for (const own of [one.host.addPod(), one.host.addPod()]) {
    assert.equal(await runKubeOvn('ADD', 'original', own), address);
    await runKubeOvn('DEL', 'original', own);
    one.host.removePod(own);
  }
  await deletePod('original');
});

test('a pod that comes at once under the name of another one has addresses of its own', async () => {
  await createPod('again', one);
  const first = await untilAnswered(`${namespaced}/again`);
  await deletePod('again');
  const uid = await createPod('again', two);
  const second = await untilAnswered(`${namespaced}/again`);
  assert.notEqual(second['ip_address'], first['ip_address']);
  const pod = await addPod(two, { name: 'again', uid });
  assert.equal(pod.addresses.join(','), second['ip_address']);
  await removePod(pod);
  await deletePod('again');
});

test('a pod of a stateful set has the address of its predecessor, on another node as well', async () => {
  const labels = { app: 'db' };
  const containers = [{ name: 'c', image: 'busybox' }];
  const set = await api.rest.post<ApiPod>('/apis/apps/v1/namespaces/shop/statefulsets', {
    metadata: { name: 'db' },
    spec: {
      replicas: 1,
      serviceName: 'db',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: 'db',
    uid: set.metadata.uid,
    controller: true,
  };
  await createPod('db-0', one, { labels, ownerReferences: [owner] });
  const { ip_address: address } = await untilAnswered(`${namespaced}/db-0`);
  await deletePod('db-0');
  await eventually('the record is gone', async () => (await recordOf('db-0')) === undefined);
  await startFollowing();
  const uid = await createPod('db-0', two, { labels, ownerReferences: [owner] });
  assert.equal((await untilAnswered(`${namespaced}/db-0`))['ip_address'], address);
  const pod = await addPod(two, { name: 'db-0', uid });
  assert.equal(pod.addresses.join(','), address);
  await removePod(pod);
  await deletePod('db-0');
  await api.rest.delete('/apis/apps/v1/namespaces/shop/statefulsets/db');
  await eventually('its address is free', async () => (await ipOf('db-0')) === undefined);
});

test('a pod that can have no address is told why by an event', async () => {
  await createPod('lost', one, { annotations: { [`${prefix}ip_address`]: '192.0.2.77' } });
  const findEvents = async () =>
    (
      await api.rest.get<{ readonly items: readonly ApiEvent[] }>('/api/v1/namespaces/shop/events')
    ).items.filter(({ involvedObject: { name } }) => name === 'lost');
  await eventually('there is an event', async () => (await findEvents()).length > 0);
  const [{ reason, type, message } = {}] = await findEvents();
  assert.deepEqual([reason, type], ['AcquireAddressFailed', 'Warning']);
  assert.match(message ?? '', /^OVN_CONFLICT: .*192\.0\.2\.77/);
  await deletePod('lost');
});

test('a node has its end of the subnet join in its annotations', async () => {
  const answer = await untilAnswered(`/api/v1/nodes/${one.name}`, 'allocated');
  assert.deepEqual([answer['logical_switch'], answer['port_name']], ['join', `node-${one.name}`]);
  const ip = (await fixture.read(referTo('IP', `node-${one.name}`))) as IP;
  assert.equal(answer['ip_address'], ip.spec.ipAddress);
});

test('annotations of a node limit its gateway, and its labels say what it is for a provider network', async () => {
  const node = `/api/v1/nodes/${one.name}`;
  const ratesOf = async () =>
    ((await fixture.read(referTo('IP', `node-${one.name}`))) as IP).metadata.annotations ?? {};
  const rate = `${prefix}egress_rate`;
  await api.rest.patch(node, { metadata: { annotations: { [rate]: '50' } } });
  await eventually('it is limited', async () => (await ratesOf())[rate] === '50');
  await api.rest.patch(node, { metadata: { annotations: { [rate]: null } } });
  await eventually('it is limited no more', async () => (await ratesOf())[rate] === undefined);
  const network = checkObject({
    ...{ apiVersion: 'kubeovn.io/v1', kind: 'ProviderNetwork', metadata: { name: 'net1' } },
    spec: { defaultInterface: 'eth7', excludeNodes: [one.name, two.name] },
  });
  assert.ok(network.ok);
  await fixture.apply(network.object);
  await eventually('the node is labelled', async () => {
    const { metadata } = await api.rest.get<{ readonly metadata: { readonly labels?: object } }>(node);
    return 'net1.provider-network.kubernetes.io/exclude' in (metadata.labels ?? {});
  });
});

test('pods come and go without the API server, and annotations come when it is back', async () => {
  const uid = await createPod('late', one);
  await untilAnswered(`${namespaced}/late`);
  await api.kill9();
  const [known, other] = [await addPod(one, { name: 'late', uid }), await addPod(two)];
  assert.equal(known.addresses.join(','), (await ipOf('late'))?.spec.ipAddress);
  await removePod(other);
  await eventually('its address is free', async () => (await ipOf(other.name)) === undefined);
  await api.start();
  await createPod('next', two);
  await untilAnswered(`${namespaced}/next`);
  await removePod(known);
});
