/** Facts about a pod in an ADD request beside its name: policy selects the pod by them. */
import type { AttachmentRequest } from '@podwire/cni';
import { PodwireError } from '@podwire/errors';
import { endpointKey, type EndpointId, type PodIdentity } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import { z } from 'zod';

/** Enough for any pod, and small enough for every node to keep. */
const mostLabels = 256;
const mostPorts = 256;

const labelKey = z.string().min(1).max(512);
const labelValue = z.string().max(512);
const labels = z
  .record(labelKey, labelValue)
  .refine((value) => Object.keys(value).length <= mostLabels, `at most ${mostLabels} labels`);
const port = z.strictObject({
  name: z.string().min(1).max(63),
  protocol: z.enum(['tcp', 'udp', 'sctp']),
  port: z.int().min(1).max(65_535),
});
const ports = z.array(port).max(mostPorts);
const serviceAccount = z.string().min(1).max(253);

/** In an endpoint record. Without `labels` the labels of the pod are not known. */
export const endpointFacts = z.strictObject({
  labels: labels.optional(),
  ports: ports.default([]),
  serviceAccount: serviceAccount.optional(),
});

export type EndpointFacts = z.output<typeof endpointFacts>;

/** `[{"key": "app", "value": "web"}]` (CNI conventions, `args.cni.labels`). */
const conventionalLabels = z
  .array(z.strictObject({ key: labelKey, value: labelValue }))
  .max(mostLabels)
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])));

const ownArgs = z.strictObject({ ports: ports.optional(), serviceAccount: serviceAccount.optional() });

/** An annotation that the pod agent writes; it travels through any runtime as annotations do. */
export const factsAnnotation = 'podwire.io/pod-facts';
const annotationsCapability = 'io.kubernetes.cri.pod-annotations';

/**
 * From `args.cni.labels` and `args["podwire.io"]`, or else from the annotation of the pod agent.
 * @throws PodwireError CONFIG_INVALID naming the field
 */
export function readFacts({ config }: Pick<AttachmentRequest, 'config'>): EndpointFacts {
  const args = fieldsOf(config['args']);
  const annotated = readAnnotation(fieldsOf(config.runtimeConfig)[annotationsCapability]);
  const own = readWith(ownArgs, 'args["podwire.io"]', args['podwire.io']);
  const given = readWith(conventionalLabels, 'args.cni.labels', fieldsOf(args['cni'])['labels']);
  return compact({
    labels: given ?? annotated?.labels,
    ports: own?.ports ?? annotated?.ports ?? [],
    serviceAccount: own?.serviceAccount ?? annotated?.serviceAccount,
  });
}

function readAnnotation(annotations: unknown): EndpointFacts | undefined {
  const text = fieldsOf(annotations)[factsAnnotation];
  if (typeof text !== 'string') return undefined;
  const where = `annotation ${factsAnnotation}`;
  try {
    return readWith(endpointFacts, where, JSON.parse(text));
  } catch (cause) {
    if (cause instanceof PodwireError) throw cause;
    throw new PodwireError('CONFIG_INVALID', `${where}: is not JSON`, { cause });
  }
}

function readWith<T>(schema: z.ZodType<T>, where: string, value: unknown): T | undefined {
  if (value === undefined || value === null) return undefined;
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const place = [where, ...(issue?.path ?? [])].join('.');
  throw new PodwireError('CONFIG_INVALID', `${place}: ${issue?.message ?? 'is wrong'}`);
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Outside Kubernetes a container is a pod of the namespace `default`. */
export function policyPodOf({ pod, id }: { readonly pod: PodIdentity; readonly id: EndpointId }): PodName {
  if (pod.name === undefined) return { namespace: 'default', name: id.containerId };
  return { namespace: pod.namespace ?? 'default', name: pod.name };
}

export const podKeyOf = ({ namespace, name }: PodName): string => `${namespace}/${name}`;

/** For messages about one endpoint. */
export const endpointOf = ({ id }: { readonly id: EndpointId }): string => endpointKey(id);
