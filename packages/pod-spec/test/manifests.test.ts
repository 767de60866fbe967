/** Result of reading manifests: defaults, identities, kinds, limits. */
import { describe, expect, test } from 'vitest';
import { readApiPod, readManifests } from '../src/manifests.js';
import type { Pod } from '../src/pod.js';
import { formatProblem } from '../src/problem.js';
import { place, problemsOf, readOne, withContainer, withMetadata, withSpec } from './place.js';

const containerOf = (rest: string) => readOne(withContainer(rest)).spec.containers[0]!;

describe('defaults of the API', () => {
  test('a minimal pod', () => {
    const { metadata, spec, status } = readOne(withMetadata('name: web'));
    expect(metadata).toEqual({
      name: 'web',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
      labels: {},
      annotations: { 'kubernetes.io/config.hash': metadata.uid, 'podwire.io/origin': 'web.yaml' },
    });
    expect(spec).toEqual({
      containers: [
        {
          name: 'main',
          image: 'busybox',
          env: [],
          envFrom: [],
          ports: [],
          resources: {},
          volumeMounts: [],
          securityContext: {},
          stdin: false,
          stdinOnce: false,
          tty: false,
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ],
      initContainers: [],
      volumes: [],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      hostAliases: [],
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      shareProcessNamespace: false,
      nodeName: 'Node-1',
      securityContext: {},
      imagePullSecrets: [],
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    });
    expect(status.phase).toBe('Pending');
  });

  test.each([
    ['busybox', 'Always'],
    ['busybox:latest', 'Always'],
    ['busybox:1.36', 'IfNotPresent'],
    ['registry:5000/busybox', 'Always'],
    ['registry:5000/busybox:1', 'IfNotPresent'],
    [`busybox@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
    [`busybox:latest@sha256:${'a'.repeat(64)}`, 'Always'],
  ])('the pull policy of %s is %s', (image, policy) => {
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: "${image}"}]}`;
    expect(readOne(text).spec.containers[0]!.imagePullPolicy).toBe(policy);
  });

  test('ports', () => {
    const { ports } = containerOf('ports: [{containerPort: 1}, {containerPort: 2, hostPort: 0, hostIP: ""}]');
    expect(ports).toEqual([
      { containerPort: 1, protocol: 'TCP' },
      { containerPort: 2, protocol: 'TCP' },
    ]);
  });

  test('ports on the network of the node are its own', () => {
    const text = withContainer('ports: [{containerPort: 80}]').replace('spec:', 'spec:\n  hostNetwork: true');
    expect(readOne(text).spec.containers[0]!.ports).toEqual([
      { containerPort: 80, hostPort: 80, protocol: 'TCP' },
    ]);
  });

  test('probes', () => {
    const { livenessProbe, readinessProbe, startupProbe } = containerOf(
      'livenessProbe: {httpGet: {port: 80}}, readinessProbe: {grpc: {port: 5}}, startupProbe: {exec: {command: [a]}, failureThreshold: 30}',
    );
    const times = {
      initialDelaySeconds: 0,
      periodSeconds: 10,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 3,
    };
    expect(livenessProbe).toEqual({
      ...times,
      httpGet: { path: '/', port: 80, scheme: 'HTTP', httpHeaders: [] },
    });
    expect(readinessProbe).toEqual({ ...times, grpc: { port: 5, service: '' } });
    expect(startupProbe).toEqual({ ...times, exec: { command: ['a'] }, failureThreshold: 30 });
  });

  test('empty text and 0 where the API takes them for the default', () => {
    const { livenessProbe, ports } = containerOf(
      'ports: [{containerPort: 1, name: ""}], livenessProbe: {httpGet: {port: 1, path: ""}, periodSeconds: 0, timeoutSeconds: 0, failureThreshold: 0, successThreshold: 0}',
    );
    const elsewhere = containerOf(
      'livenessProbe: {httpGet: {port: 1, host: ""}}, readinessProbe: {tcpSocket: {port: 1, host: ""}}',
    );
    expect(elsewhere.livenessProbe?.httpGet).not.toHaveProperty('host');
    expect(elsewhere.readinessProbe?.tcpSocket).toEqual({ port: 1 });
    expect(ports).toEqual([{ containerPort: 1, protocol: 'TCP' }]);
    expect(livenessProbe).toMatchObject({
      httpGet: { path: '/' },
      periodSeconds: 10,
      timeoutSeconds: 1,
      failureThreshold: 3,
      successThreshold: 1,
    });
    expect(readOne(withSpec('hostname: ""\nsubdomain: ""')).spec).not.toHaveProperty('hostname');
  });

  test('what is limited is requested', () => {
    const { resources } = containerOf('resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}');
    expect(resources).toEqual({
      limits: { cpu: '1', memory: '1Gi' },
      requests: { cpu: '500m', memory: '1Gi' },
    });
  });

  test('volumes', () => {
    const text = withSpec(
      'volumes: [{name: a}, {name: b, configMap: {name: c}}, {name: d, emptyDir: {medium: Memory}}]',
    );
    expect(readOne(text).spec.volumes).toEqual([
      { name: 'a', emptyDir: {} },
      { name: 'b', configMap: { name: 'c', defaultMode: 0o644 } },
      { name: 'd', emptyDir: { medium: 'Memory' } },
    ]);
  });

  test('null is nothing', () => {
    const text = withSpec('volumes:\nhostname: null\nsecurityContext: ~\nnodeSelector:');
    const { spec } = readOne(text);
    expect(spec.volumes).toEqual([]);
    expect(spec).not.toHaveProperty('hostname');
    expect(spec).not.toHaveProperty('nodeSelector');
  });

  test('fields of no use here are kept', () => {
    const { spec } = readOne(withSpec('priority: 5\nnodeSelector: {a: b}\ntolerations: [{key: x}]'));
    expect(spec).toMatchObject({
      priority: 5,
      nodeSelector: { a: 'b' },
      tolerations: [{ key: 'x' }, { operator: 'Exists', effect: 'NoExecute' }],
    });
  });

  test('a status in a manifest is of another life', () => {
    const text = `${withSpec('')}\nstatus: {phase: Running}`;
    expect(readOne(text).status.phase).toBe('Pending');
  });

  test('init containers and sidecars may have what they need', () => {
    const text = withSpec(
      'initContainers:\n- {name: i, image: b, ports: [{containerPort: 1, hostPort: 5}]}\n' +
        '- {name: s, image: b, restartPolicy: Always, startupProbe: {tcpSocket: {port: 1}}, ports: [{containerPort: 1, hostPort: 5}]}',
    );
    expect(readOne(text).spec.initContainers.map(({ restartPolicy }) => restartPolicy)).toEqual([
      undefined,
      'Always',
    ]);
  });
});

describe('YAML as Kubernetes reads it', () => {
  test('octal numbers, words for true and false, merge keys', () => {
    const text = withSpec(
      'hostPID: yes\nvolumes:\n- {name: a, configMap: &c {name: b, defaultMode: 0400}}\n- {name: d, configMap: {<<: *c, optional: on}}',
    );
    const { spec } = readOne(text);
    expect(spec.hostPID).toBe(true);
    expect(spec.volumes).toEqual([
      { name: 'a', configMap: { name: 'b', defaultMode: 0o400 } },
      { name: 'd', configMap: { name: 'b', defaultMode: 0o400, optional: true } },
    ]);
  });

  test('a date is text', () => {
    expect(
      readOne(withMetadata('name: a, annotations: {day: 2026-11-20}')).metadata.annotations,
    ).toMatchObject({
      day: '2026-11-20',
    });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('a key %s is only a key', (key) => {
    const json = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"${key.replaceAll('_', 'x')}":"1"}},
      "spec":{"containers":[{"name":"a","image":"b"}],"${key}":{"hostNetwork":true}}}`;
    expect(problemsOf(json)).toEqual([expect.stringContaining(`spec.${key}: unknown field`)]);
  });
});

describe('the place of a problem', () => {
  test('line and column of the key, or of what is around a missing one', () => {
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n    - name: a\n      ports:\n        - hostPort: 1\n      image: b\n';
    expect(problemsOf(text)).toEqual([
      'web.yaml:9:11: spec.containers[0].ports[0].containerPort: is missing',
    ]);
  });

  test('in the order of the file, everything at once', () => {
    const text = withSpec('hostPID: 1\nvolumes: [{name: A}]\nhostIPC: 1').replace('name: web', 'name: Web');
    expect(problemsOf(text).map((problem) => problem.split(':')[1])).toEqual(['3', '6', '7', '8']);
  });

  test('in JSON too', () => {
    const text = JSON.stringify(
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'a' }] } },
      null,
      2,
    );
    expect(problemsOf(text)).toEqual(['web.yaml:9:7: spec.containers[0].image: is missing']);
  });

  test('the number of the document, when there are several', () => {
    const text = `${withMetadata('name: a')}\n---\n${withMetadata('name: B')}`;
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(/^web\.yaml:8:12 \(document 2\): metadata\.name: must be made of/),
    ]);
  });

  test.each([
    [': [', /^web\.yaml:1:\d+: /],
    ['{"a": ', /^web\.yaml:1:\d+: /],
    ['a: 1\na: 2', /^web\.yaml:2:1: "a" stands in its map already$/],
    ['a:\n\t- b', /^web\.yaml:2:1: a tab is no indentation/],
    ['spec:\n- name: a\n command: [b', /^web\.yaml:3:1: stands between the entries of a list/],
    ['a: [1, 2\nb: 3', /^web\.yaml:2:1: a \] is missing before here$/],
    ['a: 1\n---\nb: "c', /^web\.yaml:1:1 \(document 1\): kind: |^web\.yaml:3:6: the quote/],
    ['kind: Pod\nspec: *gone', /^web\.yaml:2:7: the alias has no anchor before it$/],
    ['', /^web\.yaml: there is no pod in it$/],
    ['# nothing\n---\n---', /^web\.yaml: there is no pod in it$/],
    ['[1]', /^web\.yaml:1:1: must be a map, is a list$/],
    ['hello', /^web\.yaml:1:1: must be a map, is "hello"$/],
  ])('%j', (text, expected) => expect(problemsOf(text)[0]).toMatch(expected));

  test('a file with thousands of problems tells a hundred', () => {
    const containers = Array.from({ length: 1000 }, () => '{}').join(', ');
    const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [${containers}]}`;
    expect(problemsOf(text)).toHaveLength(100);
  });
});

describe('several objects', () => {
  const json = (name: string): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'a', image: 'b' }] },
  });
  const namesOf = (text: string): string[] => {
    const { pods, problems } = readManifests(text, place);
    expect(problems).toEqual([]);
    return pods.map(({ metadata }) => metadata.name);
  };

  test('documents, empty ones between them', () => {
    expect(
      namesOf(`${withMetadata('name: a')}\n---\n---\n# none\n---\n${withMetadata('name: b')}\n...\n`),
    ).toEqual(['a', 'b']);
  });

  test('lists, in lists too', () => {
    const inner = { apiVersion: 'v1', kind: 'List', items: [json('b')] };
    expect(namesOf(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [json('a'), inner] }))).toEqual([
      'a',
      'b',
    ]);
  });

  test('items of a PodList need not say that they are pods; an empty list is fine', () => {
    const { metadata, spec } = json('a') as Pod;
    expect(
      namesOf(JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [{ metadata, spec }] })),
    ).toEqual(['a']);
    expect(namesOf('{"apiVersion":"v1","kind":"PodList","items":[]}')).toEqual([]);
  });

  test('one bad item and nothing is taken', () => {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: [json('a'), json('B')] });
    const { pods, problems } = readManifests(text, place);
    expect(pods).toEqual([]);
    expect(problems.map(({ field }) => field)).toEqual(['items[1].metadata.name']);
  });

  test('ConfigMaps beside the pods', () => {
    const text = `${withMetadata('name: a')}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {a.conf: "x = 1\\n"}
binaryData: {b: AAEC}
immutable: true`;
    const { pods, configMaps, problems } = readManifests(text, place);
    expect(problems).toEqual([]);
    expect(pods).toHaveLength(1);
    expect(configMaps).toEqual([
      { namespace: 'shop', name: 'settings', data: { 'a.conf': 'x = 1\n' }, binaryData: { b: 'AAEC' } },
    ]);
  });
});

describe('identity', () => {
  const uid = (text: string, at = place) => readOne(text, at).metadata.uid;
  const text = withMetadata('name: web, labels: {a: "1", b: "2"}');

  test('cosmetic edits keep it, others change it', () => {
    const same = `# edited\n${text.replace('{a: "1", b: "2"}', '{b: "2",   a: \'1\'}')}`;
    expect(uid(same)).toBe(uid(text));
    expect(uid(`${text}\nstatus: {phase: Failed}`)).toBe(uid(text));
    expect(uid(text.replace('busybox', 'busybox:1'))).not.toBe(uid(text));
    expect(uid(JSON.stringify({ ...readJson(text) }))).toBe(uid(text));
  });

  test('a copy in another file is the same pod; on another node, or at a URL, it is another', () => {
    expect(uid(text, { ...place, origin: 'other.yaml' })).toBe(uid(text));
    const places = [place, { ...place, node: 'node-2' }, { ...place, source: 'http' as const }];
    expect(new Set(places.map((each) => uid(text, each))).size).toBe(3);
  });

  test('one in the manifest stays, and is the hash', () => {
    const { metadata } = readOne(withMetadata('name: web, uid: 8d-1'));
    expect(metadata.uid).toBe('8d-1');
    expect(metadata.annotations['kubernetes.io/config.hash']).toBe('8d-1');
  });

  test('the node behind the name, in small letters, and not in the uid', () => {
    const suffixed = readOne(text, { ...place, nameSuffix: 'node' });
    expect(suffixed.metadata.name).toBe('web-node-1');
    expect(suffixed.metadata.uid).toBe(uid(text));
    expect(suffixed.spec.nodeName).toBe('Node-1');
  });

  test('a name that is too long with the node behind it', () => {
    const long = withMetadata(`name: ${'a'.repeat(250)}`);
    expect(readManifests(long, { ...place, nameSuffix: 'node' }).problems.map(formatProblem)).toEqual([
      'web.yaml:3:12: metadata.name: is longer than 253 with the name of the node behind it',
    ]);
  });

  test('only a file makes a pod tolerate everything', () => {
    expect(readOne(text, { ...place, source: 'http' }).spec).not.toHaveProperty('tolerations');
  });

  function readJson(yaml: string): object {
    const { metadata, spec } = { metadata: { name: 'web', labels: { b: '2', a: '1' } }, spec: {} };
    expect(yaml).toBe(text);
    return {
      kind: 'Pod',
      apiVersion: 'v1',
      spec: { ...spec, containers: [{ image: 'busybox', name: 'main' }] },
      metadata,
    };
  }
});

describe('a pod of the API server', () => {
  test('keeps what is unknown here and its status', () => {
    const { pod, complaints } = readApiPod({
      metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '5', managedFields: [{}] },
      spec: {
        containers: [{ name: 'a', image: 'b', volumeMounts: [{ name: 'x', mountPath: '/x' }], future: 1 }],
        volumes: [{ name: 'x', projected: { sources: [] } }],
        activeDeadlineSeconds: 5,
      },
      status: { phase: 'Running', qosClass: 'BestEffort' },
    });
    expect(complaints).toEqual([]);
    expect(pod.spec.volumes[0]).toEqual({ name: 'x', projected: { sources: [] } });
    expect(pod.spec['activeDeadlineSeconds']).toBe(5);
    expect(pod.spec.containers[0]).toMatchObject({ future: 1 });
    expect(pod.status).toMatchObject({ phase: 'Running', qosClass: 'BestEffort', podIPs: [] });
    expect(pod.metadata.uid).toBe('u');
  });

  test('complains of what cannot be used', () => {
    expect(readApiPod({ spec: { containers: 1 } }).complaints).toEqual([
      'metadata.name: is missing',
      'spec.containers: must be a list, is 1',
    ]);
  });
});
