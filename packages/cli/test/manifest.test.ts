import fs from 'node:fs';
import path from 'node:path';
import { parseRequest } from '@podwire/cni';
import type { PodwireError } from '@podwire/errors';
import { describe, expect, test } from 'vitest';
import { checkPodManifests, readPodManifests, toCniInputs } from '../src/manifest.js';
import { toPlanBody } from '../src/commands/plan.js';
import { writeTemporary } from './support.js';

const pod = (rest: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: web, namespace: shop }\n${rest}`;
const complaintsOf = (text: string): string[] => checkPodManifests(text, 'p.yaml').complaints;
const only = (text: string) => {
  const { pods, complaints } = checkPodManifests(text, 'p.yaml');
  expect(complaints).toEqual([]);
  return pods[0]!;
};

describe('what CNI gets of a pod', () => {
  test('the examples', () => {
    const files = ['web', 'client', 'limited'].map((name) => `examples/${name}.yaml`);
    const [web, client, limited] = readPodManifests(files).map((each) => toCniInputs(each, 'c1'));
    expect(web).toEqual({
      args: [
        ['IgnoreUnknown', '1'],
        ['K8S_POD_NAMESPACE', 'shop'],
        ['K8S_POD_NAME', 'web'],
        ['K8S_POD_INFRA_CONTAINER_ID', 'c1'],
      ],
      capabilityArgs: { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }] },
    });
    expect(client?.capabilityArgs).toEqual({});
    expect(limited?.capabilityArgs).toMatchObject({
      portMappings: [{ hostPort: 5353, containerPort: 53, protocol: 'udp' }],
      bandwidth: { ingressRate: 10_000_000, egressRate: 5_000_000 },
      'io.kubernetes.cri.pod-annotations': { 'kubernetes.io/egress-bandwidth': '5M' },
    });
  });

  test('ports of all containers; those without a host port ask for nothing', () => {
    const { portMappings } = only(
      pod(`spec:
  containers:
    - ports: [{ containerPort: 1 }, { containerPort: 2, hostPort: 0 }, { containerPort: 3, hostPort: 30, hostIP: 127.0.0.1 }]
    - name: no ports
    - ports: [{ name: s, containerPort: 4, hostPort: 30, protocol: SCTP, hostIP: "" }]`),
    );
    expect(portMappings).toEqual([
      { hostPort: 30, containerPort: 3, protocol: 'tcp', hostIP: '127.0.0.1' },
      { hostPort: 30, containerPort: 4, protocol: 'sctp' },
    ]);
  });

  test('resolver settings, uid, and the default namespace', () => {
    const read = only(`apiVersion: v1
kind: Pod
metadata: { name: a.b-c, uid: 8d-1 }
spec:
  dnsConfig:
    nameservers: [10.0.0.10]
    searches: [shop.svc]
    options: [{ name: ndots, value: "5" }, { name: edns0 }]`);
    expect(read.namespace).toBe('default');
    const { args, capabilityArgs } = toCniInputs(read, 'c');
    expect(args).toContainEqual(['K8S_POD_UID', '8d-1']);
    expect(capabilityArgs['dns']).toEqual({
      servers: ['10.0.0.10'],
      searches: ['shop.svc'],
      options: ['ndots:5', 'edns0'],
    });
  });

  test('what up takes: lists, ConfigMaps, directories', () => {
    const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n';
    const items = '{kind: Pod, apiVersion: v1, metadata: {name: b}}';
    const list = `apiVersion: v1\nkind: List\nitems: [${items}]\n---\nkind: PodList\nitems: [{metadata: {name: c}}]`;
    const file = writeTemporary('a.yaml', `${map}---\n${pod('').replace('web', 'a')}`);
    const directory = path.dirname(file);
    fs.writeFileSync(path.join(directory, 'b.yaml'), list);
    fs.writeFileSync(path.join(directory, '.b.yaml.swp'), ': [');
    expect(readPodManifests([directory]).map(({ name, line }) => [name, line])).toEqual([
      ['a', 6],
      ['b', 3],
      ['c', 6],
    ]);
    expect(checkPodManifests(map, 'p.yaml')).toEqual({ pods: [], complaints: [] });
  });

  test('several documents, empty ones between them', () => {
    const text = `${pod('')}---\n---\n# nothing\n---\n${pod('').replace('web', 'other')}`;
    expect(checkPodManifests(text, 'p.yaml').pods.map(({ name }) => name)).toEqual(['web', 'other']);
  });

  test('a request made of it is one that the plugin side takes', () => {
    const [limited] = readPodManifests(['examples/limited.yaml']);
    const { containerId, args, config } = toPlanBody(limited!) as {
      containerId: string;
      args: string;
      config: object;
    };
    const environment = {
      CNI_COMMAND: 'ADD',
      CNI_CONTAINERID: containerId,
      CNI_IFNAME: 'eth0',
      CNI_NETNS: '/run/netns/x',
      CNI_ARGS: args,
      CNI_PATH: '/',
    };
    const stdin = JSON.stringify({ cniVersion: '1.1.0', name: 'n', type: 't', ...config });
    expect(parseRequest(environment, Buffer.from(stdin)).command).toBe('ADD');
  });
});

describe('complaints name file, line and field', () => {
  test.each([
    [': [', /^p\.yaml:1:\d+: /],
    ['', /^p\.yaml: there is no pod in it$/],
    ['[1]', /^p\.yaml:1:1: must be a map$/],
    [
      'apiVersion: v1\nkind: Service\nmetadata: {name: a}',
      /^p\.yaml:2:1: kind: Podwire runs Pods, not a Service: /,
    ],
    ['kind: Pod\nmetadata: {name: a}', /^p\.yaml:1:1: apiVersion: must be v1, is missing$/],
    ['apiVersion: v1\nkind: Pod\nmetadata: {}', /^p\.yaml:3:1: metadata\.name: is missing$/],
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {name: Web}',
      /^p\.yaml:3:12: metadata\.name: must be made of .* is "Web"$/,
    ],
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {name: 7}',
      /metadata\.name: must be text, is 7; put it into quotes$/,
    ],
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: "x;y"}', /metadata\.uid: must be made of/],
    [`apiVersion: v1\nkind: Pod\nmetadata: {name: ${'a'.repeat(254)}}`, /metadata\.name/],
    [pod('spec: {hostNetwork: true}'), /^p\.yaml:4:8: spec\.hostNetwork: a pod on the network of its node/],
    [pod('spec: {containers: {}}'), /spec\.containers: must be a list, is a map$/],
    [pod('spec: {containers: [{ports: [{hostPort: 1}]}]}'), /ports\[0\]\.containerPort: is missing$/],
    [
      pod('spec: {containers: [{ports: [{containerPort: 65536}]}]}'),
      /containerPort: must be a number from 1 to 65535, is 65536$/,
    ],
    [
      pod('spec: {containers: [{ports: [{containerPort: "80"}]}]}'),
      /containerPort: must be a number .* is "80"$/,
    ],
    [
      pod('spec: {containers: [{ports: [{containerPort: 80, hostPort: -1}]}]}'),
      /hostPort: must be a number from 0/,
    ],
    [
      pod('spec: {containers: [{ports: [{containerPort: 80, hostport: 8}]}]}'),
      /ports\[0\]\.hostport: unknown field; a port has/,
    ],
    [
      pod('spec: {containers: [{ports: [{containerPort: 80, protocol: tcp}]}]}'),
      /protocol: must be TCP or UDP or SCTP, is "tcp" \(did you mean TCP\?\)$/,
    ],
    [
      pod('spec: {containers: [{ports: [{containerPort: 80, hostPort: 8, hostIP: localhost}]}]}'),
      /hostIP: must be an IP address/,
    ],
    [pod('spec: {dnsConfig: {options: [{value: a}]}}'), /dnsConfig\.options\[0\]\.name: is missing$/],
  ])('%j', (text, expected) => {
    const complaints = complaintsOf(text);
    expect(complaints[0]).toMatch(expected);
    expect(complaints).toHaveLength(1);
  });

  test.each([
    ['10Q', /must be a quantity in bits per second such as 10M, is "10Q"$/],
    ['999', /must lie between 1k and 1P bits per second, is 999$/],
    ['1001T', /must lie between/],
    ['-10M', /must lie between/],
  ])('a rate of %s', (rate, expected) => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    kubernetes.io/egress-bandwidth: "${rate}"`;
    const [complaint] = complaintsOf(text);
    expect(complaint).toMatch(/^p\.yaml:6:5: metadata\.annotations\."kubernetes\.io\/egress-bandwidth": /);
    expect(complaint).toMatch(expected);
  });

  test('a rate that YAML takes for a number, as the API server refuses it', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {kubernetes.io/egress-bandwidth: 1000000}}';
    expect(complaintsOf(text)).toEqual([
      expect.stringMatching(/must be text, is 1000000; put it into quotes$/),
    ]);
  });

  test('a host port asked for twice, and not one on another address or protocol', () => {
    const ports = (list: string) => pod(`spec: {containers: [{ports: [${list}]}]}`);
    const a = '{containerPort: 1, hostPort: 9}';
    expect(complaintsOf(ports(`${a}, {containerPort: 2, hostPort: 9, protocol: TCP}`))).toEqual([
      expect.stringContaining(
        'spec.containers[0].ports[1].hostPort: tcp port 9 is asked for by spec.containers[0].ports[0] already',
      ),
    ]);
    expect(complaintsOf(ports(`${a}, {containerPort: 2, hostPort: 9, protocol: UDP}`))).toEqual([]);
    expect(complaintsOf(ports(`${a}, {containerPort: 2, hostPort: 9, hostIP: "::1"}`))).toEqual([]);
  });

  test('everything that is wrong at once, in all files', () => {
    const one = writeTemporary('one.yaml', 'apiVersion: v2\nkind: Pod\nmetadata: {}');
    const two = writeTemporary('two.yaml', pod('spec: {containers: 1}'));
    const call = () => readPodManifests([one, two, '/nonexistent/x.yaml']);
    expect(call).toThrow(/cannot be read/);
    try {
      readPodManifests([one, two]);
      expect.unreachable();
    } catch (error) {
      const { code, message } = error as PodwireError;
      expect(code).toBe('MANIFEST_INVALID');
      expect(message.split('\n').map((line) => line.replace(/^.*\//, ''))).toEqual([
        'one.yaml:1:1: apiVersion: must be v1, is "v2" (did you mean v1?)',
        'one.yaml:3:1: metadata.name: is missing',
        'two.yaml:4:8: spec.containers: must be a list, is 1',
      ]);
    }
  });

  test('the same pod in two files', () => {
    const files = ['a.yaml', 'b.yaml'].map((name) => writeTemporary(name, pod('')));
    expect(() => readPodManifests(files)).toThrow(
      /b\.yaml:1: a second pod shop\/web, after that in .*a\.yaml:1$/,
    );
  });

  test('aliases that unfold without end', () => {
    const level = (n: number): string =>
      `&l${n} [${Array(10)
        .fill(`*l${n - 1}`)
        .join(', ')}]`;
    const bomb = `a: &l0 [x]\n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `k${n}: ${level(n)}`).join('\n')}`;
    expect(complaintsOf(bomb)).toEqual([expect.stringMatching(/alias/i)]);
  });

  test('nothing in the examples is wrong', () => {
    for (const name of fs.readdirSync('examples')) readPodManifests([`examples/${name}`]);
  });
});
