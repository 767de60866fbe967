/** `apply`, `get`, `delete` and the rest on a cluster in memory, and on a directory. */
import fs from 'node:fs';
import path from 'node:path';
import { policyStatusKind } from '@podwire/cluster-state';
import { encodeObject } from '@podwire/store';
import { describe, expect, test } from 'vitest';
import { run, startFakeAgent, writeTemporary } from '../support.js';
import { makeTemporaryDirectory } from '../temporary.js';
import { createCluster, type TestCluster } from './cluster.js';

const policy = (name: string, port = 80, more = ''): string =>
  `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: ${name}${more}}\nspec:\n  podSelector: {matchLabels: {app: web}}\n  ingress:\n    - ports: [{port: ${port}}]\n`;

const json = async (cluster: TestCluster, line: string): Promise<unknown> =>
  JSON.parse((await cluster.podwire(`${line} -o json`)).stdout) as unknown;

const say = (
  cluster: TestCluster,
  node: string,
  revision: number,
  problems: { object: string; message: string }[] = [],
) =>
  cluster.store.put(
    cluster.keys.policyStatus(node),
    encodeObject(policyStatusKind, { node, revision, problems }),
  );

const revisionOf = (answer: unknown): number =>
  (answer as { objects: readonly { revision: number }[] }).objects[0]!.revision;

describe('apply', () => {
  test('creates, changes, and leaves alone', async () => {
    const cluster = createCluster();
    const file = writeTemporary(
      'web.yaml',
      `${policy('web')}---\n${policy('db', 5432, ', namespace: shop')}`,
    );
    const first = await cluster.podwire(`apply -f ${file}`);
    expect([first.code, first.stderr, first.stdout]).toEqual([
      0,
      '',
      'networkpolicies/default/web created\nnetworkpolicies/shop/db created\n',
    ]);
    expect((await cluster.podwire(`apply -f ${file}`)).stdout).toBe(
      'networkpolicies/default/web unchanged\nnetworkpolicies/shop/db unchanged\n',
    );
    fs.writeFileSync(file, policy('web', 81));
    expect((await cluster.podwire(`apply -f ${file}`)).stdout).toBe(
      'networkpolicies/default/web configured\n',
    );
    const { items } = await cluster.store.list('/podwire/objects/');
    expect(items.map(({ key }) => key)).toEqual([
      '/podwire/objects/networking.k8s.io/NetworkPolicy/default/web',
      '/podwire/objects/networking.k8s.io/NetworkPolicy/shop/db',
    ]);
  });

  test('refuses everything for one wrong object, with file, line and field', async () => {
    const cluster = createCluster();
    const file = writeTemporary('web.yaml', `${policy('web')}---\n${policy('db').replace('ports', 'port')}`);
    const { code, stdout, stderr } = await cluster.podwire(`apply -f ${file}`);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${file}:15: spec.ingress[0].port: unknown field (did you mean ports?)`);
    expect(stderr).toContain('code: MANIFEST_INVALID');
    expect((await cluster.store.list('/podwire/objects/')).items).toEqual([]);
  });

  test('reads directories, and names a double', async () => {
    const cluster = createCluster();
    const directory = makeTemporaryDirectory();
    fs.writeFileSync(path.join(directory, 'a.yaml'), policy('web'));
    fs.writeFileSync(path.join(directory, 'b.yaml'), policy('web'));
    const { code, stderr } = await cluster.podwire(`apply -f ${directory}`);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `b.yaml:1: networking.k8s.io/v1 NetworkPolicy default/web stands in ${directory}/a.yaml:1 already`,
    );
  });

  test('with --dry-run writes nothing', async () => {
    const cluster = createCluster();
    const file = writeTemporary('web.yaml', policy('web'));
    expect((await cluster.podwire(`apply -f ${file} --dry-run`)).stdout).toBe(
      'networkpolicies/default/web created (dry run)\n',
    );
    expect((await cluster.store.list('/podwire/objects/')).items).toEqual([]);
  });

  test('replaces what cannot be read', async () => {
    const cluster = createCluster();
    const key = '/podwire/objects/networking.k8s.io/NetworkPolicy/default/web';
    await cluster.store.put(key, 'hello');
    const file = writeTemporary('web.yaml', policy('web'));
    expect((await cluster.podwire(`apply -f ${file}`)).stdout).toBe(
      'networkpolicies/default/web configured\n',
    );
  });

  test('5,000 objects of a file', { tags: ['long'], timeout: 120_000 }, async () => {
    const cluster = createCluster();
    const items = Array.from({ length: 5_000 }, (_, index) => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: `p${index}`, annotations: { note: 'x'.repeat(800) } },
      spec: { podSelector: {} },
    }));
    const file = writeTemporary('all.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const begin = performance.now();
    expect((await cluster.podwire(`apply -f ${file}`)).code).toBe(0);
    expect(performance.now() - begin).toBeLessThan(60_000);
    expect((await cluster.store.list('/podwire/objects/')).items).toHaveLength(5_000);
  });
});

describe('apply --wait', () => {
  test('ends when every node says that it is in force', async () => {
    const cluster = createCluster();
    await cluster.node('n1');
    await cluster.node('n2');
    const file = writeTemporary('web.yaml', policy('web'));
    const revision = revisionOf(await json(cluster, `apply -f ${file}`));
    await say(cluster, 'n1', revision);
    const waiting = cluster.podwire(`apply -f ${file} --wait -o json`);
    await say(cluster, 'n2', revision + 10);
    const { code, stdout } = await waiting;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      inForce: { complete: true, waiting: [], dead: [], off: [], problems: [] },
    });
  });

  test('names a node whose policy is switched off, and does not wait for it', async () => {
    const cluster = createCluster();
    await cluster.node('n1');
    await cluster.node('n2');
    const file = writeTemporary('web.yaml', policy('web'));
    await say(cluster, 'n1', 1_000);
    const off = { node: 'n2', revision: 0, problems: [], isOff: true };
    await cluster.store.put(cluster.keys.policyStatus('n2'), encodeObject(policyStatusKind, off));
    const { code, stderr } = await cluster.podwire(`apply -f ${file} --wait`);
    expect(stderr).toBe(
      'warning: n2 has policy switched off (policy.enabled: false): nothing is enforced there\n',
    );
    expect(code).toBe(0);
  });

  test('names a dead node, and does not wait for it', async () => {
    const cluster = createCluster();
    await cluster.node('n1');
    await cluster.node('n2', { present: false });
    const file = writeTemporary('web.yaml', policy('web'));
    await say(cluster, 'n1', 1_000);
    const { code, stderr } = await cluster.podwire(`apply -f ${file} --wait`);
    expect([code, stderr]).toEqual([
      4,
      'warning: n2 has no living agent: there the rules stand as they were\n',
    ]);
  });

  test('gives up in time', async () => {
    const cluster = createCluster();
    await cluster.node('n1');
    const file = writeTemporary('web.yaml', policy('web'));
    await say(cluster, 'n1', 0);
    const { code, stderr } = await cluster.podwire(`apply -f ${file} --wait --timeout 2`);
    expect([code, stderr]).toEqual([4, 'warning: n1 has not said in time that it is in force there\n']);
  });

  test('hands on what a node says against an object', async () => {
    const cluster = createCluster();
    await cluster.node('n1');
    await say(cluster, 'n1', 1_000, [{ object: 'a policy', message: 'is closed' }]);
    const file = writeTemporary('web.yaml', policy('web'));
    const { code, stderr } = await cluster.podwire(`apply -f ${file} --wait`);
    expect([code, stderr]).toEqual([4, 'warning: n1: a policy: is closed\n']);
  });

  test('of a deletion, too', async () => {
    const cluster = createCluster();
    await cluster.node('n1');
    const file = writeTemporary('web.yaml', policy('web'));
    const revision = revisionOf(await json(cluster, `apply -f ${file}`));
    await say(cluster, 'n1', revision);
    const { code } = await cluster.podwire(`delete -f ${file} --wait --timeout 1`);
    expect(code).toBe(4);
  });
});

describe('get', () => {
  const filled = async (): Promise<TestCluster> => {
    const cluster = createCluster();
    const text = [policy('web', 80, ', labels: {team: a}'), policy('db', 81, ', namespace: shop')].join(
      '---\n',
    );
    await cluster.podwire(`apply -f ${writeTemporary('all.yaml', text)}`);
    cluster.advance(3_000);
    return cluster;
  };

  test('lists a kind', async () => {
    const { stdout, code } = await (await filled()).podwire('get netpol');
    expect(code).toBe(0);
    expect(stdout).toBe(
      'NAMESPACE   NAME   PODS      TYPES     AGE\ndefault     web    app=web   Ingress   3s\nshop        db     app=web   Ingress   3s\n',
    );
  });

  test.each([
    ['get netpol -n shop -o name', 'networkpolicies/shop/db\n'],
    ['get netpol -l team=a -o name', 'networkpolicies/default/web\n'],
    ['get netpol -l !team -o name', 'networkpolicies/shop/db\n'],
    ['get netpol/web -o jsonpath={.metadata.labels.team}', 'a'],
    ['get NetworkPolicy shop/db -o name', 'networkpolicies/shop/db\n'],
  ])('%s', async (line, stdout) => {
    expect((await (await filled()).podwire(line)).stdout).toBe(stdout);
  });

  test('what it prints as YAML can be applied again', async () => {
    const cluster = await filled();
    const { stdout } = await cluster.podwire('get netpol -o yaml');
    const other = createCluster();
    const applied = await other.podwire(`apply -f ${writeTemporary('again.yaml', stdout)}`);
    expect(applied.stdout).toBe('networkpolicies/default/web created\nnetworkpolicies/shop/db created\n');
  });

  test('says what is not there, and what is no kind', async () => {
    const cluster = await filled();
    const unknown = await cluster.podwire('get netpol nothing');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('OBJECT_UNKNOWN')]);
    expect((await cluster.podwire('get netpoll')).stderr).toContain('did you mean netpol?');
    expect((await cluster.podwire('get cnp')).stderr).toBe('no clusternetworkpolicies\n');
  });

  test('shows what cannot be read beside the others', async () => {
    const cluster = await filled();
    await cluster.store.put('/podwire/objects/networking.k8s.io/NetworkPolicy/default/bad', 'hello');
    const { code, stdout, stderr } = await cluster.podwire('get netpol -o name');
    expect([code, stdout]).toEqual([4, 'networkpolicies/default/web\nnetworkpolicies/shop/db\n']);
    expect((await cluster.podwire('get netpol')).stderr).toContain('bad cannot be read');
    expect(stderr).toBe('');
  });
});

describe('delete', () => {
  test('by file, by name, and what is not there', async () => {
    const cluster = createCluster();
    const file = writeTemporary('web.yaml', policy('web'));
    await cluster.podwire(`apply -f ${file}`);
    expect((await cluster.podwire(`delete -f ${file}`)).stdout).toBe('networkpolicies/default/web deleted\n');
    expect((await cluster.podwire('delete netpol web')).code).toBe(1);
    const quiet = await cluster.podwire('delete netpol/web --ignore-not-found');
    expect([quiet.code, quiet.stdout]).toEqual([0, 'networkpolicies/default/web absent\n']);
    expect((await cluster.podwire('delete')).code).toBe(2);
  });
});

describe('a node alone', () => {
  test('has its objects in a directory', async () => {
    const directory = path.join(makeTemporaryDirectory(), 'objects');
    const file = writeTemporary('web.yaml', policy('web'));
    const applied = await run(['apply', '-f', file, '--objects', directory]);
    expect([applied.stderr, applied.stdout]).toEqual(['', 'networkpolicies/default/web created\n']);
    expect(fs.readdirSync(directory)).toEqual(['networkpolicy.networking.k8s.io_default_web.yaml']);
    expect((await run(['get', 'netpol', '-o', 'name', '--objects', directory])).stdout).toBe(
      'networkpolicies/default/web\n',
    );
    expect((await run(['delete', '-f', file, '--objects', directory])).code).toBe(0);
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  test('is asked whether it is in force', async () => {
    const directory = path.join(makeTemporaryDirectory(), 'objects');
    const file = writeTemporary('web.yaml', policy('web'));
    const answer = (revision: number, problems: unknown[] = []) => ({ body: { revision, problems } });
    const later = Number.MAX_SAFE_INTEGER;
    const agent = await startFakeAgent({
      'GET /v1/policy': [
        answer(0),
        answer(1),
        answer(later),
        answer(later, [{ object: 'x', message: 'is closed' }]),
      ],
    });
    const line = ['apply', '-f', file, '--wait', '--objects', directory, '--socket', agent.socket];
    expect(await run(line)).toMatchObject({ code: 0, stderr: '' });
    expect(agent.asked).toHaveLength(3);
    expect(await run(line)).toMatchObject({ code: 4, stderr: 'warning: x: is closed\n' });
    await agent.close();
    expect((await run(line)).code).toBe(3);
  });

  test('by its configuration', async () => {
    const directory = path.join(makeTemporaryDirectory(), 'objects');
    const config = writeTemporary('agent.yaml', `objects: {directory: ${directory}}\n`);
    const file = writeTemporary('web.yaml', policy('web'));
    expect((await run(['apply', '-f', file, '--config', config])).code).toBe(0);
    expect(fs.readdirSync(directory)).toHaveLength(1);
  });
});

describe('describe, diff and explain', () => {
  test('an object with where it comes from and what nodes say', async () => {
    const cluster = createCluster();
    const file = writeTemporary('web.yaml', policy('web'));
    await cluster.podwire(`apply -f ${file}`);
    await say(cluster, 'n1', 1, [
      { object: 'networking.k8s.io/v1 NetworkPolicy default/web', message: 'is closed' },
      { object: 'networking.k8s.io/v1 NetworkPolicy default/other', message: 'is not asked for' },
    ]);
    for (const line of ['describe netpol/web', 'describe netpol web', 'describe netpol/default/web']) {
      const { code, stdout } = await cluster.podwire(line);
      expect(code).toBe(0);
      expect(stdout).toContain(`from ${file}, line 1\nnot in force on n1: is closed\n`);
      expect(stdout).toContain('\nkind: NetworkPolicy\n');
      expect(stdout).not.toContain('not asked for');
    }
    expect((await cluster.podwire('describe netpol/nothing')).stderr).toContain('OBJECT_UNKNOWN');
    expect((await cluster.podwire('describe netpoll web')).stderr).toContain('did you mean netpol?');
  });

  test('a pod is still a pod', async () => {
    const cluster = createCluster();
    for (const line of ['describe web', 'describe pod/web', 'describe shop/web'])
      expect((await cluster.podwire(line)).stderr).toContain('code: PODLET_UNREACHABLE');
    for (const line of ['explain web', 'explain pod/netpol', 'explain node'])
      expect((await cluster.podwire(line)).stderr).toContain('code: AGENT_UNREACHABLE');
  });

  test('what a file would change', async () => {
    const cluster = createCluster();
    const file = writeTemporary('web.yaml', policy('web'));
    expect(await cluster.podwire(`diff -f ${file}`)).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(/^networkpolicies\/default\/web new\n\+ apiVersion/) as string,
    });
    await cluster.podwire(`apply -f ${file}`);
    expect(await cluster.podwire(`diff -f ${file}`)).toEqual({ code: 0, stdout: '', stderr: '' });
    fs.writeFileSync(file, policy('web', 81));
    const changed = await cluster.podwire(`diff -f ${file}`);
    expect(changed.code).toBe(4);
    expect(changed.stdout).toContain('\n-         - port: 80\n+         - port: 81\n');
  });

  test('what fields mean', async () => {
    const cluster = createCluster();
    const { stdout } = await cluster.podwire('explain netpol.spec.ingress.ports');
    expect(stdout).toContain('NetworkPolicy, networking.k8s.io/v1: spec.ingress.ports, list of maps\n');
    expect(stdout).toContain('\nprotocol (TCP, UDP or SCTP, TCP by default)\n');
    const wrong = await cluster.podwire('explain netpol.spec.ingres');
    expect(wrong.stderr).toContain('NetworkPolicy.spec has no field "ingres" (did you mean ingress?)');
    const calico = await cluster.podwire('explain networkpolicies.projectcalico.org.spec.order');
    expect(calico.stdout).toContain('NetworkPolicy, projectcalico.org/v3: spec.order');
  });
});
