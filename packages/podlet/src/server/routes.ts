/** The pod agent's API for `podwire`: its pods, their changes, streams into them, and its sources. */
import { PodwireError, redactUrl } from '@podwire/errors';
import type { ApiAnswer, ApiRoutes } from '@podwire/local-api';
import { untilAborted, withDeadline } from '@podwire/platform';
import type { PodDescription, PodView } from '../contract.js';
import type { SourcePlaces } from '../sources/source-set.js';
import type { PodletApi } from './api.js';
import {
  attachBody,
  execBody,
  portForwardBody,
  readBody,
  sourcesBody,
  type SourcesBody,
} from './requests.js';
import { findPod } from './find-pod.js';
import { podVerbs } from './pod-verbs.js';
import { releaseAt } from './held.js';
import { readUse } from './stats.js';
import { watchEvents, watchPods } from './watch.js';

export const podletRoutes: ApiRoutes<PodletApi> = {
  'GET /healthz': () => ({ contentType: 'text/plain', text: 'ok\n' }),
  'GET /v1/status': (api) => ({ json: viewStatus(api) }),
  'GET /v1/pods': (api) => ({ json: { pods: api.pods(), problems: api.problems() } }),
  'GET /v1/pods/*': (api, { rest }) => ({ json: findByPath(api, rest) }),
  'GET /v1/describe/*': (api, { rest }) => ({ json: describePod(api, findByPath(api, rest)) }),
  'GET /v1/events': (api) => ({ json: { events: api.events() } }),
  'GET /v1/events/watch': (api, { signal }) => ({ lines: watchEvents(api, signal) }),
  'GET /v1/watch': (api, { signal }) => ({ lines: watchPods(api, signal) }),
  'GET /v1/trace/*': (api, { rest }) => {
    const pod = findByPath(api, rest);
    return { json: { pod, spans: api.spans(pod.uid) } };
  },
  ...podVerbs,
  'GET /v1/stats': async (api, { signal }) => ({ json: { pods: await readUse(api, undefined, signal) } }),
  'GET /v1/stats/*': async (api, { rest, signal }) => ({
    json: { pods: await readUse(api, findByPath(api, rest), signal) },
  }),
  'GET /v1/network': async (api) => ({ json: await explainNetwork(api) }),
  'GET /v1/sources': (api) => ({ json: viewSources(api) }),
  'POST /v1/sources': (api, { body, signal }) => addSources(api, readBody(sourcesBody, body), signal),
  'DELETE /v1/sources': async (api, { body, signal }) => {
    const places = readBody(sourcesBody, body);
    const answer = changeSources(api, places, 'remove');
    await releaseAt(api, places, signal);
    return answer;
  },
  'POST /v1/exec': async (api, { body, signal }) => {
    const { argv, tty, stdin, stdout, stderr, ...target } = readBody(execBody, body);
    const containerId = findContainer(api, target);
    const request = { containerId, cmd: argv, tty, stdin, stdout, stderr: stderr && !tty };
    return { json: { url: (await api.runtime.exec(request, { signal })).url } };
  },
  'POST /v1/attach': async (api, { body, signal }) => {
    const { tty, stdin, stdout, stderr, ...target } = readBody(attachBody, body);
    const containerId = findContainer(api, target);
    const request = { containerId, tty, stdin, stdout, stderr: stderr && !tty };
    return { json: { url: (await api.runtime.attach(request, { signal })).url } };
  },
  'POST /v1/port-forward': async (api, { body, signal }) => {
    const { namespace, name } = readBody(portForwardBody, body);
    const { sandboxId } = findPod(api, namespace, name);
    if (sandboxId === undefined) throw notRunning(namespace, name, 'it has no sandbox yet');
    return {
      json: { url: (await api.runtime.portForward({ podSandboxId: sandboxId, port: [] }, { signal })).url },
    };
  },
  'POST /v1/reload': ({ configuration }) => ({ json: configuration?.reload() ?? {} }),
  'POST /v1/shutdown': (api) => {
    api.shutDown();
    return { json: { pid: process.pid } };
  },
};

/** @throws PodwireError POD_UNKNOWN when it has just gone */
function describePod(api: PodletApi, pod: PodView): PodDescription {
  const manifest = api.manifest(pod.uid);
  if (manifest === undefined)
    throw new PodwireError('POD_UNKNOWN', `there is no pod ${pod.namespace}/${pod.name}`);
  const { spec, metadata } = manifest;
  return { pod, spec, labels: metadata.labels, node: api.node, runtime: api.runtimeName };
}

function viewStatus(api: PodletApi): object {
  const pods = api.pods();
  const count = (phase: string): number => pods.filter(({ status }) => status.phase === phase).length;
  return {
    node: api.node,
    version: api.version,
    pid: process.pid,
    startedAt: new Date(api.startedAt).toISOString(),
    runtime: api.runtimeName,
    configuration: api.configuration?.view() ?? null,
    ...viewSources(api),
    held: api.held?.all() ?? [],
    problems: api.problems(),
    pods: {
      pending: count('Pending'),
      running: count('Running'),
      succeeded: count('Succeeded'),
      failed: count('Failed'),
    },
    memory: { rss: process.memoryUsage.rss() },
  };
}

/** URLs without user and password. */
function viewSources({ sources }: PodletApi): { files: readonly string[]; urls: readonly string[] } {
  return { files: sources.file?.origins() ?? [], urls: (sources.http?.origins() ?? []).map(redactUrl) };
}

/** Milliseconds that the answer waits for what new places have to say: longer than a web server is given. */
const firstWordMs = 12_000;

/** Answers when the pods of a new place are known, or its problem. */
async function addSources(api: PodletApi, body: SourcesBody, signal: AbortSignal): Promise<ApiAnswer> {
  const answer = changeSources(api, body, 'add');
  await releaseAt(api, body, signal);
  const { file, http } = api.sources;
  const words = [
    ...(file === undefined ? [] : body.files.map((each) => file.known(each))),
    ...(http === undefined ? [] : body.urls.map((each) => http.known(each))),
  ];
  await withDeadline(signal, firstWordMs, (over) => Promise.race([Promise.all(words), untilAborted(over)]));
  return answer;
}

function changeSources(api: PodletApi, { files, urls }: SourcesBody, change: 'add' | 'remove'): ApiAnswer {
  const { file, http } = api.sources;
  if ((files.length > 0 && file === undefined) || (urls.length > 0 && http === undefined)) {
    throw new PodwireError('REQUEST_INVALID', 'this pod agent takes its pods from the Kubernetes API only');
  }
  const named = change === 'remove' ? urls.map((each) => findUrl(http, each)) : urls;
  const changed = [
    ...files.filter((each) => file?.[change](each)),
    ...named.filter((each) => http?.[change](each)).map(redactUrl),
  ];
  return { json: { changed, ...viewSources(api) } };
}

/** A client may name a URL as it is shown. */
function findUrl(http: SourcePlaces | undefined, url: string): string {
  const all = http?.origins() ?? [];
  return all.find((each) => each === url) ?? all.find((each) => redactUrl(each) === redactUrl(url)) ?? url;
}

/** `NAMESPACE/NAME`. @throws PodwireError POD_UNKNOWN */
function findByPath(api: PodletApi, path: string): PodView {
  const [namespace = '', name = '', ...more] = path.split('/');
  if (name === '' || more.length > 0)
    throw new PodwireError('REQUEST_INVALID', `${path} is not NAMESPACE/NAME`);
  return findPod(api, namespace, name);
}

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly container?: string | undefined;
}

/** The container that is meant; without a name the first one. */
function findContainer(api: PodletApi, { namespace, name, container }: Target): string {
  const pod = findPod(api, namespace, name);
  const all = [...pod.status.containerStatuses, ...pod.status.initContainerStatuses];
  const found = container === undefined ? all[0] : all.find((each) => each.name === container);
  if (found === undefined) {
    const names = all.map((each) => each.name).join(', ');
    throw new PodwireError(
      'POD_UNKNOWN',
      `pod ${namespace}/${name} has no container ${container}; it has ${names}`,
      { action: null },
    );
  }
  if (found.state.running === undefined)
    throw notRunning(namespace, name, `container ${found.name} does not run${reasonOf(found)}`);
  return found.containerID.replace(/^[a-z0-9+.-]+:\/\//, '');
}

/** In one word, as its state has it. */
function reasonOf({ state }: PodView['containers'][number]): string {
  const reason = state.waiting?.reason ?? state.terminated?.reason;
  return reason === undefined ? '' : ` (${reason})`;
}

function notRunning(namespace: string, name: string, why: string): PodwireError {
  return new PodwireError('POD_NOT_RUNNING', `pod ${namespace}/${name}: ${why}`, {
    action: `\`podwire describe pod/${namespace}/${name}\` says why.`,
  });
}

async function explainNetwork(api: PodletApi): Promise<unknown> {
  if (api.explainNetwork !== undefined) return api.explainNetwork();
  throw new PodwireError(
    'REQUEST_INVALID',
    'the runtime behind this pod agent sees to networks itself; ask it, or look into its CNI directory with `podwire net explain --cni-conf-dir DIR`',
  );
}
