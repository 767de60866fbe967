/**
 * The pod agent as a process that ends at fault points: what `podwire podlet` is, with orders from a test.
 *
 *   node pod-agent-entry.js --config FILE
 *
 * `PODWIRE_FAULTS` is the directory of orders; without it there are none.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { peerCredentials } from '@podwire/linux';
import {
  buildContainerConfig,
  buildSandboxConfig,
  type Clock,
  createEnsureImage,
  createFileSource,
  createMerger,
  createPodPreparation,
  createProber,
  createRunHook,
  SourceSet,
  type PodSource,
  readLogTail,
  readNode,
  startPodlet,
  startPodletServer,
} from '@podwire/podlet';
import { executeInjections } from '@podwire/testkit/fault-injection';
import type { PodAgentConfig } from './entry-config.js';
import { log, openRuntime } from './open-runtime.js';

const clock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  sleep: async (milliseconds, signal) => void (await sleep(milliseconds, undefined, { signal })),
};
const node = 'node1';

const { values } = parseArgs({ options: { config: { type: 'string' } } });
// A bare `node --test` runs every file below a folder named test.
if (values.config === undefined) throw new Error('pod-agent-entry needs --config FILE; tests start it');
const config = JSON.parse(fs.readFileSync(values.config, 'utf8')) as PodAgentConfig;
const orders = process.env['PODWIRE_FAULTS'];
const faults = orders === undefined ? { reach: () => undefined } : executeInjections(orders);

async function openApiSource(server: string): Promise<PodSource> {
  const { KubernetesClient } = await import('@podwire/kubernetes-client');
  const { createApiSource } = await import('@podwire/podlet/kubernetes');
  const client = new KubernetesClient({ server, verify: false });
  return createApiSource({ client, node, clock, random: Math.random });
}

const at = (name: string): string => path.join(config.directory, name);
fs.mkdirSync(at('podlet'), { recursive: true, mode: 0o700 });
const opened = await openRuntime(config, faults);
const { runtime } = opened;
const files = new SourceSet('file', config.manifests, (place) =>
  createFileSource({ path: place, node, nameSuffix: 'none', clock }),
);
const merger = createMerger(clock);
const directories = { root: at('podlet'), logs: at('logs') };
const facts = readNode({ name: node, oomScoreAdjustment: 0, resolvConf: '' });
const podlet = startPodlet(
  { settings: config.settings ?? {} },
  {
    runtime,
    sources: [files, ...(config.server === undefined ? [] : [await openApiSource(config.server)])],
    merger,
    preparation: createPodPreparation({
      directories,
      node: facts,
      findConfigMap: (namespace, name) =>
        Promise.resolve(
          merger.configMaps().find((each) => each.namespace === namespace && each.name === name),
        ),
    }),
    node: facts,
    runHook: createRunHook({ runtime, clock }),
    ensureImage: createEnsureImage(),
    random: Math.random,
    faults: { at: (step) => faults.reach(`podlet:${step}`) },
    ...{ buildSandboxConfig, buildContainerConfig, createProber, directories, clock, log, readLogTail },
  },
);
const stopped = new AbortController();
const stop = (): void => stopped.abort();
const server = await startPodletServer(
  {
    node,
    version: '0',
    startedAt: Date.now(),
    runtimeName: config.runtime,
    runtime,
    sources: { file: files },
    pods: () => podlet.pods(),
    problems: () => podlet.problems(),
    manifest: (uid) => podlet.manifest(uid),
    events: () => podlet.events(),
    subscribeEvents: (listener) => podlet.subscribeEvents(listener),
    subscribe: (listener) => podlet.subscribe(listener),
    spans: (uid) => podlet.trace(uid),
    restart: (uid, names) => podlet.restart(uid, names),
    shutDown: stop,
  },
  { socket: at('podlet.sock'), peerCredentials, onBroken: () => undefined },
);
process.stdout.write('{"msg":"ready"}\n');
process.once('SIGTERM', stop);
await new Promise((resolve) => stopped.signal.addEventListener('abort', resolve, { once: true }));
await server.stop();
await podlet.stop();
await opened.close();
