import { createPolicyRenderer, type LinkChange, type PolicyRenderer } from '@podwire/network-policy';
import { createTestClock, type TestClock } from '@podwire/platform/testing';
import { createCompiler, type InputChange, type Policy, type PolicyCompiler } from '@podwire/policy';
import { beforeEach, expect, test } from 'vitest';
import { DepartedPods, isSelected, isStandIn } from '../../src/policy/inputs/departed-pods.js';

const node = 'node1';
const pod = (name: string, app: string, on = node): InputChange => ({
  topic: 'pod',
  key: `shop/${name}`,
  value: {
    ...{ namespace: 'shop', name, labels: { app }, node: on, ports: [] },
    addresses: [`10.0.0.${name.length}`],
  },
});
const gone = (name: string): InputChange => ({ topic: 'pod', key: `shop/${name}`, value: undefined });
const link = (name: string, isThere: boolean): LinkChange => ({
  link: `cali-${name}`,
  value: isThere ? { link: `cali-${name}`, endpoint: `shop/${name}`, addresses: [] } : undefined,
});

const policy: Policy = {
  ...{ id: 'only-web', tier: 'default', order: 1000 },
  reference: {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    namespace: 'shop',
    name: 'only-web',
  },
  subjects: [
    {
      is: 'pods',
      namespaces: { is: 'all' },
      pods: { is: 'in', key: 'app', values: ['web', 'shell', 'x', 'y', 'z'] },
    },
  ],
  ingress: [
    {
      ...{
        action: 'allow',
        services: [{ protocol: 'tcp' as const, ports: [{ first: 80, last: 80 }] }],
        destination: [],
        path: 'spec.ingress[0]',
      },
      source: [
        {
          peers: [
            { is: 'pods', namespaces: { is: 'all' }, pods: { is: 'in', key: 'app', values: ['shell'] } },
          ],
        },
      ],
    },
  ],
};

interface Node {
  readonly clock: TestClock;
  readonly departed: DepartedPods;
  readonly compiler: PolicyCompiler;
  readonly renderer: PolicyRenderer;
  /** How many resources are added and removed. */
  change(inputs: readonly InputChange[], links?: readonly LinkChange[]): readonly [number, number];
}

function createNode(most = 8): Node {
  const clock = createTestClock();
  const compiler = createCompiler({ node });
  const renderer = createPolicyRenderer({ podLinkPrefixes: ['cali'], logGroup: 1 });
  const take = (inputs: readonly InputChange[], links: readonly LinkChange[]): readonly [number, number] => {
    const { add, remove } = renderer.apply(compiler.apply(inputs), links);
    return [add.length, remove.length];
  };
  const departed = new DepartedPods({
    ...{ node, clock, keep: 1_000, most },
    isSelected: (pod) => isSelected(compiler.state.endpoints.get(pod)),
    forget: (inputs) => void take(inputs, []),
  });
  const change: Node['change'] = (inputs, links = []) => {
    const counts = take([...departed.follow(inputs), ...inputs], links);
    departed.confirm(inputs);
    return counts;
  };
  return { clock, departed, compiler, renderer, change };
}

const standIns = ({ compiler }: Node): string[] => [...compiler.state.endpoints.keys()].filter(isStandIn);

let one: Node;
beforeEach(() => {
  one = createNode();
  one.change([{ topic: 'policy', key: 'only-web', value: policy }, pod('shell', 'shell', 'far')]);
});

test('the next pod of a kind is two elements, and its going is two as well', () => {
  const [first] = one.change([pod('a', 'web')], [link('a', true)]);
  expect(first).toBeGreaterThan(5);
  expect(one.change([gone('a')], [link('a', false)])).toEqual([0, 2]);
  expect(one.change([pod('bb', 'web')], [link('bb', true)])).toEqual([2, 0]);
});

test('a stand-in has no address: it is in no set', () => {
  const members = (): string[] => [...one.compiler.state.sets.values()].flatMap((set) => [...set.members]);
  one.change([pod('client', 'shell'), pod('a', 'web')]);
  const before = members();
  one.change([gone('client')]);
  expect(standIns(one)).toHaveLength(1);
  expect(before).toEqual(['10.0.0.5', '10.0.0.6']);
  expect(members()).toEqual(['10.0.0.5']);
});

test('what is kept follows policies, and goes when its time has come, counted from the last departure', async () => {
  const empty = one.renderer.resources.length;
  one.change([pod('a', 'web')], [link('a', true)]);
  one.change([gone('a')], [link('a', false)]);
  await one.clock.advance(800);
  one.change([pod('a', 'web')], [link('a', true)]);
  one.change([gone('a')], [link('a', false)]);
  await one.clock.advance(800);
  expect(standIns(one)).toHaveLength(1);
  one.change([{ topic: 'policy', key: 'only-web', value: undefined }]);
  expect(one.compiler.state.policies.size).toBe(0);
  await one.clock.advance(300);
  expect(standIns(one)).toEqual([]);
  expect(one.renderer.resources.length).toBe(empty);
});

test('labels that change leave the kind that was; another name or address does not', () => {
  one.change([pod('a', 'web')]);
  one.change([pod('a', 'web')]);
  expect(standIns(one)).toEqual([]);
  one.change([pod('a', 'shell')]);
  expect(standIns(one)).toHaveLength(1);
  one.change([pod('a', 'shell', 'far')]);
  expect(standIns(one)).toHaveLength(2);
});

test('the oldest goes where there are too many', () => {
  one = createNode(2);
  one.change([{ topic: 'policy', key: 'only-web', value: policy }]);
  for (const app of ['x', 'y', 'z']) {
    one.change([pod('a', app)]);
    one.change([gone('a')]);
  }
  const labels = standIns(one).map((key) => one.compiler.inspect(key)?.pod.labels['app']);
  expect(labels.sort()).toEqual(['y', 'z']);
});

test('a pod that the kernel has refused, or that went before it was taken, leaves nothing behind', () => {
  const came = pod('a', 'web');
  expect(one.departed.follow([came])).toEqual([]);
  expect(one.departed.follow([gone('a')])).toEqual([]);
  one.departed.confirm([came]);
  expect(one.departed.follow([gone('a')])).toEqual([]);
});

test('a pod that no policy selects leaves nothing behind: what it needs is made in no time', () => {
  const before = one.renderer.resources.length;
  one.change([pod('a', 'other')], [link('a', true)]);
  one.change([gone('a')], [link('a', false)]);
  expect(standIns(one)).toEqual([]);
  expect(one.renderer.resources.length).toBe(before);
});
