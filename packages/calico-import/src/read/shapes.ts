/**
 * Calico's objects, as far as they are taken over. Field names: projectcalico/calico, `api/pkg/apis/projectcalico/v3`,
 * `libcalico-go/lib/apis/internalapi` (custom resources) and `libcalico-go/lib/backend/model` (etcd). Unknown fields are left alone:
 * every version adds some.
 */
import { tryParseAddress, parsePrefix } from '@podwire/addresses';
import { z } from 'zod';

const prefix = z.string().refine((text) => {
  try {
    parsePrefix(text, { loose: true });
    return true;
  } catch {
    return false;
  }
}, 'is no ADDRESS/LENGTH');

/** `true`, or `"true"` in old custom resources. */
const flag = z
  .union([z.boolean(), z.enum(['true', 'false', ''])])
  .nullish()
  .transform((value) => value === true || value === 'true');

const mode = z
  .enum(['Never', 'Always', 'CrossSubnet', ''])
  .nullish()
  .transform((value) => (value === '' || value == null ? 'Never' : value));

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

export const metadata = z.object({
  name: z.string().min(1),
  namespace: z.string().optional(),
  creationTimestamp: z.string().nullish(),
  deletionTimestamp: z.string().nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
});

export const poolSpec = z.object({
  cidr: prefix,
  blockSize: z.int().min(0).max(128).nullish(),
  vxlanMode: mode,
  ipipMode: mode,
  natOutgoing: flag,
  disabled: flag,
  disableBGPExport: flag,
  nodeSelector: text,
  namespaceSelector: text,
  allowedUses: z
    .array(z.string())
    .nullish()
    .transform((value) => value ?? []),
  assignmentMode: z.enum(['Automatic', 'Manual']).nullish(),
});

export const reservationSpec = z.object({
  reservedCIDRs: z
    .array(prefix)
    .nullish()
    .transform((value) => value ?? []),
});

const count = z.int().min(0).nullish();

export const configSpec = z.object({
  strictAffinity: flag,
  autoAllocateBlocks: flag,
  maxBlocksPerHost: count,
  ipCooldownSeconds: count,
});

/** etcd's names of the same. */
export const etcdConfig = z
  .object({
    strict_affinity: flag,
    auto_allocate_blocks: flag,
    maxBlocksPerHost: count,
    ipCooldownSeconds: count,
  })
  .transform(({ strict_affinity, auto_allocate_blocks, ...rest }) => ({
    strictAffinity: strict_affinity,
    autoAllocateBlocks: auto_allocate_blocks,
    ...rest,
  }));

const state = z.enum(['confirmed', 'pending', 'pendingDeletion', '']).nullish();

export const affinitySpec = z.object({
  cidr: prefix,
  node: z.string(),
  type: text,
  state,
  deleted: flag,
});

export const etcdAffinity = z.object({ state, deleted: flag });
/** Fields of its key. */
export const etcdAffinityKey = z.object({ type: z.string(), node: z.string(), cidr: prefix });

const attributes = z.record(z.string(), z.string()).nullish();

const attribute = z.object({
  handle_id: z.string().nullish(),
  secondary: attributes,
  alternateOwnerAttrs: attributes,
  releasedAt: z.string().nullish(),
});

export const blockSpec = z.object({
  cidr: prefix,
  affinity: z.string().nullish(),
  /** Of before 3.0. */
  hostAffinity: z.string().nullish(),
  affinityClaimTime: z.string().nullish(),
  allocations: z.array(z.int().min(0).nullable()),
  attributes: z
    .array(attribute)
    .nullish()
    .transform((value) => value ?? []),
  // More than JavaScript's whole numbers hold: it begins as nanoseconds since the epoch.
  sequenceNumber: z.number().nullish(),
  deleted: flag,
});

const counts = z
  .record(prefix, z.int())
  .nullish()
  .transform((value) => value ?? {});

export const handleSpec = z.object({ handleID: z.string(), block: counts, deleted: flag });
export const etcdHandle = z.object({ block: counts, deleted: flag });

const network = z
  .string()
  .refine((value) => tryParseAddress(value.split('/', 1)[0] ?? '') !== undefined, 'is no address');

export const endpointSpec = z.object({
  node: text,
  pod: text,
  endpoint: text,
  ipNetworks: z
    .array(network)
    .nullish()
    .transform((value) => value ?? []),
});

/** A Pod of Kubernetes: Calico keeps no endpoints of its own there. */
export const podObject = z.object({
  spec: z.object({ nodeName: text, hostNetwork: flag }).partial().nullish(),
  status: z
    .object({
      phase: text,
      podIPs: z.array(z.object({ ip: network })).nullish(),
      podIP: network.or(z.literal('')).nullish(),
    })
    .partial()
    .nullish(),
});

export type PoolSpec = z.output<typeof poolSpec>;
export type BlockSpec = z.output<typeof blockSpec>;
export type Attribute = z.output<typeof attribute>;
export type ConfigSpec = z.output<typeof configSpec>;
