/** Reads objects of the API server, once for each version. What others may write freely has limits. Pure; nothing here throws. */
import {
  annotationNames,
  type Annotations,
  readAsked,
  selectAnswers,
  type StatefulSet,
} from '@podwire/cluster-ovn';
import { ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import type { ApiObject } from '@podwire/kubernetes-client';
import { isProviderLabel, rateAnnotations } from '@podwire/objects/kube-ovn-names';
import { compact } from '@podwire/platform';
import { z } from 'zod';
import type { KubernetesNamespace, KubernetesNode, KubernetesPod, ReadObject } from './contract.js';

/** Bytes of all that a pod asks for, so that its record fits into the store with the answer. */
const longestAnnotations = 16_384;
/** The UID of a static pod on its node (the kubelet's own annotation), for which the API server has a mirror. */
const mirrorAnnotation = 'kubernetes.io/config.mirror';

const longestName = 253;
const text = z.string().max(longestName);
const metadata = z.object({
  name: text,
  uid: z.string().min(1).max(128),
  annotations: z.record(z.string(), z.string()).nullish(),
  deletionTimestamp: z.string().max(64).nullish(),
});
const owner = z.object({ apiVersion: text, kind: text, name: text, controller: z.boolean().nullish() });

const podMetadata = metadata.extend({ namespace: text, ownerReferences: z.array(owner).max(64).nullish() });

const pod = z.object({
  metadata: podMetadata,
  spec: z.object({ nodeName: text.nullish(), hostNetwork: z.boolean().nullish() }),
  status: z.object({ phase: z.string().max(64).nullish() }).nullish(),
});

const count = z.int().min(0).max(2_147_483_647);
const statefulSet = z.object({
  metadata: metadata.extend({ namespace: text }),
  spec: z.object({ replicas: count.nullish(), ordinals: z.object({ start: count.nullish() }).nullish() }),
  status: z.object({ replicas: count.nullish() }).nullish(),
});

const named = z.object({ metadata });
const labelled = z.object({
  metadata: metadata.extend({ labels: z.record(z.string(), z.string()).nullish() }),
});

export const readPod = (object: ApiObject): ReadObject<KubernetesPod> => read(pod, object, toPod);

export const readNamespace = (object: ApiObject): ReadObject<KubernetesNamespace> =>
  read(named, object, ({ metadata: { name: id, annotations } }) => ({
    id,
    ...compact({ subnet: requireName(annotations?.[annotationNames.subnet]) }),
  }));

/** @throws RangeError for what no Subnet is called */
function requireName(subnet: string | undefined): string | undefined {
  if (subnet === undefined || subnet.length <= longestName) return subnet;
  throw new RangeError(
    `metadata.annotations.${annotationNames.subnet}: must have ${longestName} characters at most`,
  );
}

export const readStatefulSet = (object: ApiObject): ReadObject<StatefulSet> =>
  read(statefulSet, object, ({ metadata: { namespace, name, deletionTimestamp }, spec, status }) => ({
    ...{ namespace, name, isDeleting: deletionTimestamp != null },
    // Numbers of pods begin with this one.
    replicas: (spec.ordinals?.start ?? 0) + Math.max(spec.replicas ?? 1, status?.replicas ?? 0),
  }));

export const readNode = (object: ApiObject): ReadObject<KubernetesNode> =>
  read(labelled, object, ({ metadata: { name: id, uid, annotations, labels } }) => ({
    ...{ id, uid, annotations: selectAnswers(annotations ?? {}), rates: selectRates(annotations ?? {}) },
    labels: Object.fromEntries(Object.entries(labels ?? {}).filter(([name]) => isProviderLabel(name))),
  }));

/** Characters; what is longer is no rate, and a message quotes it. */
const longestRate = 32;

const selectRates = (annotations: Annotations): Annotations =>
  Object.fromEntries(
    rateAnnotations.flatMap((name) => {
      const text = annotations[name];
      return text === undefined ? [] : [[name, text.slice(0, longestRate)]];
    }),
  );

function read<S extends z.ZodType, T>(
  schema: S,
  object: ApiObject,
  convert: (found: z.output<S>) => T,
): ReadObject<T> {
  const { namespace, name } = object.metadata as { readonly namespace?: unknown; readonly name?: unknown };
  const id = [namespace, name].filter((part) => typeof part === 'string').join('/');
  const checked = schema.safeParse(object);
  if (!checked.success) return { id, problem: describe(checked.error) };
  try {
    return { id, object: convert(checked.data) };
  } catch (error) {
    return { id, problem: (error as Error).message };
  }
}

const describe = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.').slice(0, 200)}: ${message}`)
    .join('; ');

/** @throws RangeError for a pod that cannot have a record */
function toPod(object: z.output<typeof pod>): KubernetesPod {
  const { namespace, name, uid, deletionTimestamp } = object.metadata;
  const endsAt = deletionTimestamp == null ? undefined : Date.parse(deletionTimestamp);
  return {
    ...{ id: `${namespace}/${name}`, namespace, uid },
    ...compact({ endsAt, record: toRecord(object) }),
    hasEnded: ['Succeeded', 'Failed'].includes(object.status?.phase ?? ''),
    annotations: selectAnswers(object.metadata.annotations ?? {}),
  };
}

function toRecord({ metadata: found, spec }: z.output<typeof pod>): OvnPodRecord | undefined {
  if (!spec.nodeName || spec.hostNetwork === true) return undefined;
  const all = found.annotations ?? {};
  const checked = ovnPodKind.schema.safeParse({
    ...{ namespace: found.namespace, name: found.name, uid: all[mirrorAnnotation] ?? found.uid },
    ...{ node: spec.nodeName, annotations: limit(readAsked(all)), source: 'kubernetes' },
    ...compact({ statefulSet: findSet(found) }),
  });
  if (checked.success) return checked.data;
  throw new RangeError(describe(checked.error));
}

function limit(annotations: Annotations): Annotations {
  const length = Buffer.byteLength(JSON.stringify(annotations));
  if (length <= longestAnnotations) return annotations;
  throw new RangeError(
    `metadata.annotations: those of Kube-OVN have ${length} bytes, and ${longestAnnotations} at most are read`,
  );
}

/** Users may write owners: a pod without a number of the set would keep its addresses for as long as the set is there. */
const findSet = ({ name: pod, ownerReferences }: z.output<typeof podMetadata>): string | undefined =>
  ownerReferences?.find(
    ({ kind, apiVersion, controller, name }) =>
      kind === 'StatefulSet' &&
      apiVersion.startsWith('apps/') &&
      controller === true &&
      isNumbered(pod, name),
  )?.name;

const isNumbered = (pod: string, set: string): boolean =>
  pod.startsWith(`${set}-`) && /^\d+$/.test(pod.slice(set.length + 1));
