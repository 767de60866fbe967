/** `podwire-cni` as the pods' network, with the real agent on a host of its own. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { RunningPodNetwork } from '@podwire/pod-network';
import {
  type Agent,
  podwirePlugin,
  reaches,
  serveEcho,
  startAgent,
  takeSnapshot,
  untilSameSnapshot,
} from '@podwire/testkit';
import {
  type AgentTrace,
  assembleTree,
  createSpanLog,
  createTracer,
  flattenTree,
  joinAgentTraces,
} from '@podwire/tracing';
import { createPodHost, listOf, type PodHost } from './support/host.js';

const repository = path.resolve(import.meta.dirname, '../../../..');
const entry = [process.execPath, path.join(import.meta.dirname, 'support/agent-entry.js')];

let on: PodHost;
let agent: Agent;
let network: RunningPodNetwork;
const spans = createSpanLog();
const tracer = createTracer({ onEnd: (span) => spans.add(span) });

function getTraces(): Promise<AgentTrace[]> {
  return new Promise((resolve, reject) => {
    const request = http.get({ socketPath: agent.apiSocket, path: '/v1/traces' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve((JSON.parse(text) as { traces: AgentTrace[] }).traces));
    });
    request.on('error', reject);
  });
}

before(async () => {
  on = await createPodHost('pw');
  fs.symlinkSync(path.join(repository, 'bin/podwire-cni'), path.join(on.plugins, 'podwire-cni'));
  agent = await startAgent(on.host, { entry, config: { coolDown: '0s' } });
  on.write('10-podwire.conflist', listOf('podwire', [podwirePlugin(agent.socket)], '1.1.0'));
  network = await on.start({ tracer, pollMs: 50 });
});
after(async () => {
  await on.close();
});

describe('podwire-cni', () => {
  test('the plugin says that the network is ready', () => {
    assert.deepEqual(network.status(), { ready: true, reason: '', message: '' });
  });

  test('pods with a host port and rates come and go without a trace', async () => {
    // Resources for all pods come with the first one and stay as long as there is one.
    const resident = on.makePod('resident');
    await network.setUp(resident);
    const before = await takeSnapshot(on.host.namespace, { files: [agent.stateDirectory] });
    const web = on.makePod('web', {
      portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
      annotations: { 'kubernetes.io/ingress-bandwidth': '10M' },
    });
    const client = on.makePod('client');
    const { addresses } = await network.setUp(web);
    await network.setUp(client);
    const server = await serveEcho(web.at, 'tcp', addresses[0] ?? '', 80);
    assert.ok(await reaches(client.at, 'tcp', addresses[0] ?? '', 80));
    await server.close();
    for (const pod of [web, client]) {
      await network.tearDown(pod);
      on.host.removePod(pod.at);
    }
    await untilSameSnapshot(before, () => takeSnapshot(on.host.namespace, { files: [agent.stateDirectory] }));
    await network.tearDown(resident);
  });

  test('one trace goes from the caller through the plugin to each resource of the engine', async () => {
    const pod = on.makePod('traced');
    const root = tracer.start('RunPodSandbox');
    await network.setUp(pod, { parent: root.context });
    root.end();
    const { traceId } = root.context;
    const traces = (await getTraces()).filter(({ parent }) => parent?.includes(traceId) === true);
    assert.equal(traces.length, 1);
    const [top, ...orphans] = assembleTree(joinAgentTraces(spans.get(traceId), traces));
    assert.deepEqual(orphans, []);
    const nodes = flattenTree([top!]);
    const pathTo = (name: RegExp): string[] => {
      const found = nodes.find(({ span }) => name.test(span.name));
      assert.ok(found, `${name} in ${nodes.map(({ span }) => span.name).join(', ')}`);
      const parents: string[] = [];
      for (let at = found; at !== undefined;) {
        parents.unshift(at.span.name);
        at = nodes.find(({ span }) => span.spanId === at.span.parentId)!;
      }
      return parents;
    };
    assert.deepEqual(pathTo(/^apply veth/), [
      ...['RunPodSandbox', 'cni ADD podwire-cni', 'agent ADD', 'apply', 'apply veth'],
    ]);
    assert.ok(nodes.some(({ span }) => span.name.startsWith('apply address ')));
    for (const { offset } of nodes) assert.ok(offset >= 0);
    await network.tearDown(pod);
  });

  test('the agent is gone: not ready in the plugin’s words, pods wait; back: all goes on', async () => {
    const pod = on.makePod('patient');
    await network.setUp(pod);
    await agent.kill9();
    const until = async (look: () => boolean): Promise<void> => {
      for (const deadline = Date.now() + 20_000; !look();) {
        assert.ok(Date.now() < deadline, JSON.stringify(network.status()));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await until(() => !network.status().ready);
    assert.match(
      network.status().message,
      /^network podwire is not available: plugin podwire-cni \(code \d+\): \S/,
    );
    const late = on.makePod('late');
    await assert.rejects(network.setUp(late), { code: 'NETWORK_ATTACH_FAILED', message: /podwire-cni/ });
    await assert.rejects(network.tearDown(pod), { code: 'NETWORK_DETACH_FAILED', message: /podwire-cni/ });
    await agent.start();
    await until(() => network.status().ready);
    await network.tearDown(pod);
    await network.setUp(late);
    await network.tearDown(late);
    assert.deepEqual([on.cached(), on.records()], [[], []]);
  });

  test('garbage collection reaches the agent', async () => {
    const [dead, alive] = [on.makePod('dead'), on.makePod('alive')];
    await network.setUp(dead);
    const { addresses } = await network.setUp(alive);
    // As after the loss of the state directory: only the agent knows of it any more.
    fs.rmSync(path.join(on.state, 'sandboxes', `${dead.sandboxId}.json`));
    fs.rmSync(path.join(on.state, 'cache/results', `podwire-${dead.sandboxId}-eth0`));
    await network.collectGarbage([alive.sandboxId]);
    const links = JSON.parse(await dead.at.run(['ip', '-j', 'link'])) as { ifname: string }[];
    assert.ok(!links.some(({ ifname }) => ifname === 'eth0'));
    assert.deepEqual(await network.addresses(alive.sandboxId), addresses);
    await network.tearDown(alive);
  });
});
