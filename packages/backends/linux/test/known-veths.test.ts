import { createFakeSystem, type FakeSystem, nodeResources, podResources } from '../src/fake/index.js';
import { createLinuxBackends } from '../src/index.js';
import { createEngine, type Engine, type Owned } from '@podwire/engine';
import { createLinkRequest, deleteLinkRequest, listLinks } from '@podwire/netlink';
import { beforeEach, expect, test } from 'vitest';
import { isMarkedForDeletion } from '../src/marks.js';
import { call } from './call.js';

/** rtnetlink(7) */
const RTM_GETLINK = 18;

let system: FakeSystem;
let engine: Engine;
let pod: Owned;
let name: string;

const startEngine = (): Engine => createEngine({ backends: createLinuxBackends(system) });
const links = () => listLinks(system.host.route);
const questions = (): number =>
  system.netlink.requests.filter(({ type, dump }) => type === RTM_GETLINK && !dump).length;

beforeEach(async () => {
  system = createFakeSystem();
  engine = startEngine();
  const resources = podResources(1);
  const veth = resources.find((resource) => resource.kind === 'veth')!;
  name = veth.host.name;
  pod = {
    owner: 'endpoint:1',
    namespace: system.addPod('/run/netns/pod1'),
    resources: resources.filter(({ kind }) =>
      ['veth', 'link-up', 'link-local-mode', 'address'].includes(kind),
    ),
  };
  await engine.apply({ owner: 'node', resources: nodeResources }, call());
});

test('the ends of a veth are not looked up after it was made', async () => {
  const before = questions();
  await engine.apply(pod, call());
  expect(questions() - before).toBe(0);
  await engine.remove(pod, call());
  expect(questions() - before).toBe(0);
  expect(links().filter((link) => link.name === name && !isMarkedForDeletion(link))).toEqual([]);
});

test('another link that has the name of ours is left alone', async () => {
  await engine.apply(pod, call());
  system.host.route.request([deleteLinkRequest(name), createLinkRequest({ kind: 'dummy', name, up: true })]);
  await engine.remove(pod, call());
  expect(links().find((link) => link.name === name)).toMatchObject({ kind: 'dummy', up: true });
});

test('our veth is removed also when another engine has made it anew', async () => {
  await engine.apply(pod, call());
  system.host.route.request([deleteLinkRequest(name)]);
  await startEngine().apply(pod, call());
  await engine.remove(pod, call());
  expect(links().filter((link) => link.kind === 'veth' && !isMarkedForDeletion(link))).toEqual([]);
});

test('a link that came to the node with the index of a veth that died with its pod is left alone', async () => {
  await engine.apply(pod, call());
  const { index } = links().find((link) => link.name === name)!;
  system.removePod(pod.namespace!);
  system.host.route.request([createLinkRequest({ kind: 'dummy', name: 'nic', index, up: true })]);
  await engine.remove(pod, call());
  expect(links().find((link) => link.index === index)).toMatchObject({ name: 'nic', group: 0, up: true });
});
