/**
 * Turns full snapshots into changes, in the order and with the words of kubelet (`pkg/kubelet/config`). All pods that
 * come out are frozen, so no copies are needed.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  Clock,
  Merger,
  PodUpdate,
  Snapshot,
  SourceName,
  SourceProblem,
  UpdateKind,
} from '../contract.js';
import { type ConfigMap, localAnnotations, type Pod, podName } from '@podwire/pod-spec';

interface SourceState {
  readonly pods: ReadonlyMap<string, Pod>;
  /** As the source gave them. */
  readonly given: ReadonlyMap<string, Pod>;
  readonly configMaps: readonly ConfigMap[];
  readonly problems: readonly SourceProblem[];
  readonly ready: boolean;
}

const unseen: SourceState = { pods: new Map(), given: new Map(), configMaps: [], problems: [], ready: false };

/** The order in which changes are told: what goes makes room first, and status comes last. */
const order: readonly UpdateKind[] = ['REMOVE', 'ADD', 'UPDATE', 'DELETE', 'RECONCILE'];

/** @param clock for the annotation that says when a pod was seen first */
export function createMerger(clock: Pick<Clock, 'now'>): Merger {
  const states = new Map<SourceName, SourceState>();
  /** Pods of checkpoints that the API has not confirmed. */
  let restored: readonly Pod[] = [];
  const all = <T>(pick: (state: SourceState) => Iterable<T>): T[] =>
    [...states.values()].flatMap((state) => [...pick(state)]);

  return {
    merge(source, snapshot) {
      const before = states.get(source) ?? unseen;
      const seen = new Date(clock.now()).toISOString();
      const { state, changes } = applySnapshot(before, source, snapshot, seen);
      states.set(source, state);
      const lost = source === 'api' && state.ready ? missing(restored, state.pods) : [];
      if (source === 'api' && state.ready) restored = [];
      return toUpdates(
        source,
        [...lost.map((pod) => ({ kind: 'REMOVE' as const, pod })), ...changes],
        before,
        state,
      );
    },
    restore(pods) {
      restored = pods.map((pod) => freeze(withSource(pod, 'api', new Date(clock.now()).toISOString())));
      return restored.length === 0
        ? []
        : [{ kind: 'RESTORE', source: 'api', pods: restored, sourceReady: false }];
    },
    pods: () => [
      ...all(({ pods }) => pods.values()),
      ...missing(restored, states.get('api')?.pods ?? new Map()),
    ],
    configMaps: () => all(({ configMaps }) => configMaps),
    problems: () => all(({ problems }) => problems),
  };
}

interface Change {
  readonly kind: UpdateKind;
  readonly pod: Pod;
}

/**
 * A restored pod that the API no longer has goes as any other one: kubelet never learned of that, since such pods were in
 * none of its maps.
 */
function missing(restored: readonly Pod[], wanted: ReadonlyMap<string, Pod>): readonly Pod[] {
  return restored.filter(({ metadata }) => !wanted.has(metadata.uid));
}

function applySnapshot(
  before: SourceState,
  source: SourceName,
  snapshot: Snapshot,
  seen: string,
): { state: SourceState; changes: Change[] } {
  const { unique, problems } = dropDoubles(source, snapshot.pods);
  const pods = new Map<string, Pod>();
  const changes: Change[] = [];
  for (const pod of unique) {
    const known = before.pods.get(pod.metadata.uid);
    if (known !== undefined && isReadBefore(source, pod, before)) {
      pods.set(pod.metadata.uid, known);
      continue;
    }
    // Its manifest has the uid, and now another name: another pod. Kubelet does not notice.
    const isOther = known !== undefined && podName(known) !== podName(pod);
    if (isOther) changes.push({ kind: 'REMOVE', pod: known });
    const { kind, next } = compare(isOther ? undefined : known, pod, source, seen);
    pods.set(pod.metadata.uid, next);
    if (kind !== undefined) changes.push({ kind, pod: next });
  }
  for (const [uid, pod] of before.pods) {
    if (pods.has(uid)) continue;
    const isGone = snapshot.incomplete !== true || snapshot.gone?.includes(uid) === true;
    if (!isGone && !isReplaced(pod, unique)) pods.set(uid, pod);
    else changes.push({ kind: 'REMOVE', pod });
  }
  const state = {
    pods,
    given: new Map(unique.map((pod) => [pod.metadata.uid, pod])),
    configMaps: snapshot.configMaps ?? (snapshot.incomplete === true ? before.configMaps : []),
    problems: [...snapshot.problems, ...problems],
    ready: before.ready || snapshot.incomplete !== true,
  };
  return { state, changes };
}

/**
 * The API source reads each version of an object once, so that an event for one of 500 pods has one pod to be compared. Every
 * status that is written comes back as an event.
 */
function isReadBefore(source: SourceName, pod: Pod, { given }: SourceState): boolean {
  return source === 'api' && given.get(pod.metadata.uid) === pod;
}

/** An edited manifest has another uid: the old pod goes also when not everything is known. */
function isReplaced(pod: Pod, by: readonly Pod[]): boolean {
  return by.some((other) => podName(other) === podName(pod));
}

/** The first one of a name stays, and the first one of a uid, which kubelet mixes up. */
function dropDoubles(source: SourceName, pods: readonly Pod[]): { unique: Pod[]; problems: SourceProblem[] } {
  const [names, uids] = [new Set<string>(), new Set<string>()];
  const problems: SourceProblem[] = [];
  const unique = pods.filter((pod) => {
    const [name, { uid }] = [podName(pod), pod.metadata];
    const doubled = names.has(name) ? 'of this name' : uids.has(uid) ? `with the uid ${uid}` : undefined;
    if (doubled !== undefined) {
      problems.push({ source, origin: name, message: `is left out: there is another pod ${doubled}` });
      return false;
    }
    names.add(name);
    uids.add(uid);
    return true;
  });
  return { unique, problems };
}

function compare(
  existing: Pod | undefined,
  pod: Pod,
  source: SourceName,
  seen: string,
): { kind?: UpdateKind; next: Pod } {
  if (existing === undefined) return { kind: 'ADD', next: freeze(withSource(pod, source, seen)) };
  const isChanged = differs(existing, pod);
  if (!isChanged && isDeepStrictEqual(existing.status, pod.status)) return { next: existing };
  const next = freeze(withSource(pod, source, seen, existing.metadata.annotations));
  if (!isChanged) return { kind: 'RECONCILE', next };
  return { kind: pod.metadata.deletionTimestamp === undefined ? 'UPDATE' : 'DELETE', next };
}

function differs(existing: Pod, pod: Pod): boolean {
  const [a, b] = [existing.metadata, pod.metadata];
  return (
    a.deletionTimestamp !== b.deletionTimestamp ||
    a.deletionGracePeriodSeconds !== b.deletionGracePeriodSeconds ||
    !isDeepStrictEqual(a.labels, b.labels) ||
    !isDeepStrictEqual(foreignAnnotations(existing), foreignAnnotations(pod)) ||
    !isDeepStrictEqual(existing.spec, pod.spec)
  );
}

const { source: sourceKey, seen: seenKey, mirror: mirrorKey } = localAnnotations;
const ownKeys: readonly string[] = [sourceKey, seenKey, mirrorKey];

/** Those that others write. The hash counts as one: it is what a mirror pod is recognized by. */
function foreignAnnotations({ metadata }: Pod): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations).filter(([key]) => !ownKeys.includes(key)));
}

/** @param own the agent's own annotations that the pod has already; they stay with it */
function withSource(
  pod: Pod,
  source: SourceName,
  seen: string,
  own: Readonly<Record<string, string>> = {},
): Pod {
  const stamped = { [seenKey]: seen, ...own, [sourceKey]: source };
  const kept = Object.entries(stamped).filter(([key]) => ownKeys.includes(key));
  const annotations = { ...pod.metadata.annotations, ...Object.fromEntries(kept) };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

function toUpdates(
  source: SourceName,
  changes: readonly Change[],
  before: SourceState,
  { ready }: SourceState,
): PodUpdate[] {
  const updates = order.flatMap((kind): PodUpdate[] => {
    const pods = changes.filter((change) => change.kind === kind).map(({ pod }) => pod);
    return pods.length === 0 ? [] : [{ kind, source, pods, sourceReady: ready }];
  });
  const isNews = ready && !before.ready;
  const tells = updates.some(({ kind }) => kind === 'ADD' || kind === 'UPDATE' || kind === 'DELETE');
  if (!isNews || tells) return updates;
  const at = updates.findIndex(({ kind }) => kind === 'RECONCILE');
  return updates.toSpliced(at < 0 ? updates.length : at, 0, {
    kind: 'ADD',
    source,
    pods: [],
    sourceReady: true,
  });
}

/** A copy that cannot be changed: what a source keeps stays its own. */
function freeze<T>(value: T): T {
  return freezeDeep(structuredClone(value));
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) freezeDeep(child);
  return Object.freeze(value);
}
