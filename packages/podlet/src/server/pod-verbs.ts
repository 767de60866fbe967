/** Pods that people stop, remove and restart by name; their manifests are never changed. */
import { PodwireError, redactUrl } from '@podwire/errors';
import type { ApiRoutes } from '@podwire/local-api';
import type { PodView } from '../contract.js';
import type { HeldPods } from '../sources/held-pods.js';
import type { PodletApi } from './api.js';
import { findPod } from './find-pod.js';
import { podBody, readBody, restartBody } from './requests.js';

/** The pod as it was before, and the manifest that was dropped with it: it had no other pod. */
export interface PodRemoved {
  readonly pod: PodView;
  readonly dropped?: string;
}

export interface PodRestarted {
  readonly pod: PodView;
  /** The containers that are started anew. */
  readonly containers: readonly string[];
}

export const podVerbs: ApiRoutes<PodletApi> = {
  'POST /v1/pods/stop': (api, { body }) => {
    const pod = findOwn(api, readBody(podBody, body), 'stop');
    const changed = heldOf(api).hold(pod, 'stopped');
    return { json: { pod, changed } };
  },
  'POST /v1/pods/remove': (api, { body }) => ({ json: remove(api, readBody(podBody, body)) }),
  'POST /v1/pods/restart': (api, { body }) => ({ json: restart(api, readBody(restartBody, body)) }),
};

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** @throws PodwireError POD_UNKNOWN, REQUEST_INVALID for a pod of an API server: it would be there again at once */
function findOwn(api: PodletApi, { namespace, name }: Named, verb: string): PodView {
  const pod = findPod(api, namespace, name);
  if (pod.source !== 'api') return pod;
  throw new PodwireError(
    'REQUEST_INVALID',
    `pod ${namespace}/${name} is the API server's, so ${verb} is too: \`kubectl delete pod ${name} -n ${namespace}\``,
  );
}

function heldOf({ held }: PodletApi): Pick<HeldPods, 'all' | 'kindOf' | 'hold' | 'release'> {
  if (held !== undefined) return held;
  throw new PodwireError('REQUEST_INVALID', 'this pod agent reads no manifests');
}

/** A manifest that has other pods stays, and is read without this one. */
function remove(api: PodletApi, named: Named): PodRemoved {
  const pod = findOwn(api, named, 'rm');
  const held = heldOf(api);
  held.hold(pod, 'removed');
  const others = api.pods().filter((other) => other.origin === pod.origin && other.uid !== pod.uid);
  const stays = others.some((other) => held.kindOf(other) !== 'removed');
  const dropped = stays ? undefined : dropPlace(api, pod.origin);
  return { pod, ...(dropped === undefined ? {} : { dropped }) };
}

/** @returns undefined where the manifest is one of a directory, which may get others */
function dropPlace({ sources }: PodletApi, origin: string | undefined): string | undefined {
  for (const places of [sources.file, sources.http]) {
    const place = places?.origins().find((each) => each === origin || redactUrl(each) === origin);
    if (place !== undefined && places?.remove(place) === true) return redactUrl(place);
  }
  return undefined;
}

function restart(
  api: PodletApi,
  { container, ...named }: Named & { container?: string | undefined },
): PodRestarted {
  const pod = findOwn(api, named, 'restart');
  const containers = chooseContainers(pod, container);
  const released = api.held?.release(
    (hold) =>
      hold.origin === (pod.origin ?? '') && hold.namespace === pod.namespace && hold.name === pod.name,
  );
  if (released === undefined || released.length === 0) api.restart(pod.uid, containers);
  return { pod, containers };
}

/** Of those that prepare the pod only those that go on beside the others. @throws PodwireError POD_UNKNOWN */
function chooseContainers(pod: PodView, name: string | undefined): string[] {
  const { containerStatuses, initContainerStatuses } = pod.status;
  const begun = pod.status.phase === 'Running' ? initContainerStatuses : [];
  const sidecars = begun.filter(({ state }) => state.running !== undefined);
  const names = [...containerStatuses, ...sidecars].map((each) => each.name);
  if (name === undefined) return names;
  if (names.includes(name)) return [name];
  throw new PodwireError(
    'POD_UNKNOWN',
    `pod ${pod.namespace}/${pod.name} has no container ${name} to restart; it has ${names.join(', ')}`,
  );
}
