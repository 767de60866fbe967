/** `podwire connectivity test` knows what policy denies, and sees where it does not hold. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathsOf, readRecord, tearDownTestbed } from '@podwire/testbed';
import { eventually } from '@podwire/testkit';
import { type Answer, podwireSays, runPodwire } from './support/command.js';

const name = `pc-${process.pid}`;
const closed = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: closed, namespace: default }
spec: { podSelector: {}, policyTypes: [Ingress] }
`;

let directory: string;

before(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-policy-'));
  await runPodwire('testbed', 'up', '--name', name, '--nodes', '2', '--pods', '1');
});

after(async () => {
  await tearDownTestbed(name);
  fs.rmSync(directory, { recursive: true, force: true });
});

const onNode = (node: string, ...argv: string[]): Promise<string> =>
  runPodwire('testbed', 'exec', '--name', name, node, '--', ...argv);

const testConnectivity = (...more: string[]): Promise<Answer> =>
  podwireSays('connectivity', 'test', '--testbed', name, ...more);

test('what policy denies is expected to be denied', async () => {
  const file = path.join(directory, 'closed.yaml');
  fs.writeFileSync(file, closed);
  await onNode('node1', 'podwire', 'apply', '-f', file, '--wait');
  const text = await testConnectivity();
  assert.equal(text.exit.code, 0, text.stdout);
  assert.match(text.stdout, /^pod1a +· +⊘/m);
  assert.match(text.stdout, /^Denied by policy: 16 asked, 16 not answered\.$/m);
  const json = await testConnectivity('-o', 'json');
  const { results } = JSON.parse(json.stdout) as { results: { expected?: string; by?: string }[] };
  const denied = results.filter(({ expected }) => expected === 'deny');
  assert.equal(denied.length, 16);
  assert.match(denied[0]!.by ?? '', /^NetworkPolicy default\/closed .*closed\.yaml:1$/);
});

test('each probe of UDP, TCP and ICMP agrees with what is explained', async () => {
  // ICMP is of one family, and the others of both.
  for (const [families, ...wanted] of [
    [2, '--port', '80/tcp'],
    [2, '--port', '80/udp'],
    [1, '--protocol', 'icmp'],
    [1, '--protocol', 'icmpv6'],
  ] as const) {
    const explain = ['podwire', 'policy', 'explain', '--to', 'pod/pod1a', ...wanted, '--probe', '-o', 'json'];
    const denied = JSON.parse(await onNode('node2', ...explain, '--from', 'pod/pod2a')) as Probed;
    assert.deepEqual(
      denied.probes.map(({ found, agrees }) => [found, agrees]),
      Array.from({ length: families }, () => ['no answer', true]),
      wanted.join(' '),
    );
    const allowed = JSON.parse(await onNode('node1', ...explain, '--from', 'node/node1')) as Probed;
    assert.deepEqual(
      allowed.probes.map(({ agrees }) => agrees),
      Array.from({ length: families }, () => true),
      wanted.join(' '),
    );
  }
});

interface Probed {
  readonly probes: readonly { readonly found: string; readonly agrees: boolean | null }[];
}

test('uplinks under policy are expected to be closed, and the tunnel between pods goes on', async () => {
  const file = path.join(directory, 'uplinks.yaml');
  fs.writeFileSync(file, ['node1', 'node2'].map(closedUplink).join('---\n'));
  await onNode('node1', 'podwire', 'delete', 'networkpolicy', 'closed', '-n', 'default');
  await onNode('node1', 'podwire', 'apply', '-f', file, '--wait');
  const { exit, stdout } = await testConnectivity();
  assert.equal(exit.code, 0, stdout);
  assert.match(stdout, /^pod1a +· +✓ \S+ +✓ \S+ +⊘/m);
  assert.match(stdout, /^Denied by policy: 8 asked, 8 not answered\.$/m);
  await onNode('node1', 'podwire', 'delete', '-f', file);
  await onNode('node1', 'podwire', 'apply', '-f', path.join(directory, 'closed.yaml'), '--wait');
});

const closedUplink = (node: string): string => `apiVersion: projectcalico.org/v3
kind: HostEndpoint
metadata: { name: ${node} }
spec: { node: ${node}, interfaceName: eth0 }
`;

test('a node whose rules are broken is named, with the rule', async () => {
  // Its agent would repair the table at once.
  const agent = readRecord(pathsOf(name))!.processes.find(({ what }) =>
    /agent.*node2|node2.*agent/.test(what),
  );
  process.kill(agent!.pid, 'SIGKILL');
  await eventually('the agent of node2 is dead', () =>
    Promise.resolve(!fs.existsSync(`/proc/${agent!.pid}/ns/net`)),
  );
  await onNode('node2', 'nft', 'insert', 'rule', 'inet', 'podwire-policy', 'ingress', 'accept');
  const { exit, stdout } = await testConnectivity();
  assert.equal(exit.code, 4, stdout);
  assert.match(stdout, /pod1a .*→ pod2a .*though NetworkPolicy default\/closed .* denies it/);
});
