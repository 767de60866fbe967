/** The objects in the store, kind by kind. To change one, raise its version and add a migration. */
import { parseAddress, parseInterfaceAddress, parsePrefix, specialKinds } from '@podwire/addresses';
import type { ObjectKind } from '@podwire/store';
import { z } from 'zod';

const reads = (parse: (text: string) => unknown) => (text: string) => {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
};

/** As Kubernetes names nodes, and also with upper case and underscores; safe as a part of a key. */
export const objectName = z
  .string()
  .max(253)
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    'no name: letters, digits, dots, dashes and underscores',
  );
const prefix = z.string().max(64).refine(reads(parsePrefix), 'no ADDRESS/LENGTH');
/** A prefix of pods. A route to a block of loopback or of the default route would cut the node off. */
const podPrefix = prefix.superRefine((text, context) => {
  if (!reads(parsePrefix)(text)) return;
  const kinds = specialKinds(parsePrefix(text));
  if (kinds.length === 0) return;
  context.addIssue({ code: 'custom', message: `${text} has ${kinds.join(', ')} addresses` });
});
const address = z.string().max(64).refine(reads(parseAddress), 'no address');
const interfaceAddress = z.string().max(64).refine(reads(parseInterfaceAddress), 'no ADDRESS/LENGTH');
const milliseconds = z.number().min(0);
const mac = z.string().regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/);

const pool = z.strictObject({
  name: objectName,
  /** The network of the agents' configuration whose pods get these addresses. */
  network: objectName,
  cidr: podPrefix,
  /** Prefix length of the blocks that nodes claim. */
  blockSize: z.int().min(20).max(128),
  /** As the network's model calls it. */
  encapsulation: z
    .string()
    .max(63)
    .regex(/^[a-z][a-z0-9-]*$/, 'no name of an encapsulation'),
  natOutgoing: z.boolean(),
  /** No new leases and no new blocks; existing ones stay. */
  disabled: z.boolean(),
  /** Prefixes and single addresses that are never allocated. */
  reserved: z.array(z.union([prefix, address])).max(4096),
  /** Kubernetes label selector over node labels (`zone in (a,b),disk=ssd`); empty: every node. */
  nodeSelector: z.string().max(4096),
  /**
   * `automatic`: for every pod. `manual`: only for pods that request the pool or an address of it.
   */
  assignment: z.enum(['automatic', 'manual']),
  /**
   * `blocks`: nodes claim blocks as they need them. `node-cidr`: a node has exactly one block of this pool, its podCIDR, and the
   * second address of it is the gateway of plugins like `bridge` (as host-local does it).
   */
  allocation: z.enum(['blocks', 'node-cidr']),
  /** True if nodes borrow single addresses of other nodes when no free block is left. */
  borrowing: z.boolean(),
  /** No node may hold more blocks than this. */
  maxBlocksPerNode: z.int().min(1).max(65_536).optional(),
  /** Set while the pool is being deleted: treated as disabled. */
  deleting: z.boolean(),
});

/**
 * A block and its owner: the only truth about that, written with compare-and-set alone. Which of its addresses are in use
 * is known to its owner; see {@link allocationRecordKind} for what the owner tells about it. It names no pool: that is the one whose
 * cidr holds it, so pools can be split while blocks are in use.
 */
const block = z.strictObject({
  cidr: podPrefix,
  /** The owner; absent: the block has none, but some of its addresses are borrowed (`loans`) and still in use. */
  node: objectName.optional(),
  /** The owner's instance when it claimed it; see {@link nodeKind}. */
  instance: z.string().max(64).optional(),
  /**
   * `pending`: claimed, but not confirmed by the owner; no node routes to it. `confirmed`.
   * `pendingDeletion`: the owner allocates nothing any more and removes its routes before it releases the block.
   */
  state: z.enum(['pending', 'confirmed', 'pendingDeletion']),
  claimedAt: milliseconds,
  /** Addresses that other nodes borrow; the owner never allocates them. `loans` is the stored name. */
  loans: z.array(z.strictObject({ address, node: objectName })).max(4096),
});

/** One address in use, as its node reports it. `owner` is the endpoint's key. */
const allocation = z.strictObject({
  address,
  owner: z.string().max(1024),
  pod: z.string().max(512).optional(),
  since: milliseconds,
});

/** The addresses of one block that one node uses: a report for users and for the controller, written in the background. */
const allocationRecord = z.strictObject({
  cidr: prefix,
  node: objectName,
  entries: z.array(allocation).max(4096),
  reportedAt: milliseconds,
  /**
   * Written by an import: the node has not reported itself yet, and its pods may run although it is not registered.
   * The node's own first report removes it.
   */
  imported: z.literal(true).optional(),
});

/** The label of a node that identifies its machine, by a digest: the id itself must not be published (machine-id(5)). */
export const machineLabel = 'podwire/machine';

const node = z.strictObject({
  name: objectName,
  /** Chosen when the state directory is new, so on each boot. Two agents with one name have different ones. */
  instance: z.string().min(1).max(64),
  version: z.string().max(64),
  labels: z.record(z.string().max(317), z.string().max(63)),
  /** Of the underlay, ADDRESS/LENGTH: the length tells which nodes share the segment. */
  addresses: z.strictObject({ ipv4: interfaceAddress.optional(), ipv6: interfaceAddress.optional() }),
  /** MTU of the underlay, bytes. */
  mtu: z.int().min(576).max(65_535),
  /** The node's end of tunnels. Its addresses come from blocks of its own. */
  tunnel: z.strictObject({ mac, ipv4: address.optional(), ipv6: address.optional() }).optional(),
  /** Facts that models publish for their plans on other nodes, by the name of the model. */
  facts: z
    .record(z.string().max(63), z.record(z.string().max(63), z.string().max(1024)))
    .refine((facts) => JSON.stringify(facts).length <= 4096, 'more than 4 KiB of facts')
    .optional(),
  /** Autonomous system number, when the node speaks BGP. */
  asn: z.int().min(1).max(4_294_967_295).optional(),
  /**
   * Eviction timeout: milliseconds of being unreachable after which the controller releases the node's blocks. The agent fences
   * itself well before that, by its own configuration, so it is the node that tells. Absent: the controller's configuration.
   */
  vanishAfter: milliseconds.optional(),
  registeredAt: milliseconds,
});

/**
 * The node's lease: it exists while the agent is connected to the store. The transaction that writes it deletes the node's
 * {@link unreachableKind} object, so that a node that was back between two looks of a controller starts a new timeout.
 * The stored name of this kind is `presence`.
 */
const nodeLease = z.strictObject({
  node: objectName,
  instance: z.string().min(1).max(64),
  since: milliseconds,
});

/**
 * Written by the controller when a node's lease ends, deleted when the node is back. Survives the controller. The stored name of
 * this kind is `absence`.
 */
const unreachable = z.strictObject({
  node: objectName,
  instance: z.string().min(1).max(64),
  /** By the wall clock of the controller that saw it first. */
  since: milliseconds,
  /**
   * Milliseconds that controllers have counted on their monotonic clocks, written from time to time: a wall clock that jumps evicts
   * no node, and a new leader does not start from zero.
   */
  observed: milliseconds.optional(),
});

/** Addresses or pools for the pods of one workload, kept when they are created again. */
const workload = z.strictObject({
  network: objectName,
  namespace: objectName,
  /** A pod's name, or the beginning of names with `*` at its end: `web-*`. */
  name: z.string().min(1).max(253),
  /** Allocated to its pods, each to one at a time. */
  addresses: z.array(address).max(1024),
  /** Only these pools, by name. */
  pools: z.array(objectName).max(64),
  /** A pod that is created again under its name gets the addresses it had, on any node. */
  sticky: z.boolean(),
  /** Pod name to addresses. Kept after the pod is deleted when `sticky`. */
  assigned: z.record(z.string().max(253), z.array(address).max(2)),
});

/**
 * A node asks the owner of a block for an address of it. The borrower deletes it when the owner has added the address to the
 * block's `loans`. The stored name of this kind is `loan-request`.
 */
const borrowRequest = z.strictObject({
  block: prefix,
  node: objectName,
  /** Absent: any address. */
  address: address.optional(),
  askedAt: milliseconds,
  /** Why the owner refuses; absent until it answers. */
  refused: z.string().max(256).optional(),
});

const labels = z.record(z.string().max(512), z.string().max(512));

/** Facts that policy selects a pod by. Written by the agent of the pod's node; gone with the pod. */
const podFacts = z.strictObject({
  namespace: z.string().min(1).max(253),
  name: z.string().min(1).max(253),
  node: objectName,
  labels,
  addresses: z.array(address).max(64),
  ports: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(63),
        protocol: z.enum(['tcp', 'udp', 'sctp']),
        port: z.int().min(1).max(65_535),
      }),
    )
    .max(1024),
  serviceAccount: z.string().max(253).optional(),
});

/** Written with the lease of the node's registration: a node that is dead has none. */
const policyStatus = z.strictObject({
  node: objectName,
  /** Objects up to this revision of the store are in force. */
  revision: z.int().min(0),
  /** Objects that are not in force as they are written, and why. */
  problems: z.array(z.strictObject({ object: z.string().max(1024), message: z.string().max(1024) })).max(64),
  /** Policy is switched off on the node: no object is ever in force there, and nothing waits for it. */
  isOff: z.boolean().optional(),
  /** Objects that network models read (NetNamespaces, say) are in force up to this revision; absent where no model reads any. */
  objects: z.int().min(0).optional(),
});

/**
 * A pod that is to have addresses of Kube-OVN, as the API server has it in Kubernetes. The program that runs the pod writes and
 * deletes it, or the controller, where that follows an API server; the controller answers in its annotations.
 */
const ovnPod = z.strictObject({
  namespace: z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, 'no name of a namespace'),
  name: z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'no name of a pod'),
  /** Another pod under the same name has another one. */
  uid: z.string().min(1).max(128),
  node: objectName.optional(),
  annotations: z.record(z.string().max(317), z.string().max(16_384)),
  /** Name of the stateful set that it is one of. */
  statefulSet: objectName.optional(),
  /** The API server has the pod, and the controller deletes the record when it has not any more. Absent: the node writes and deletes it. */
  source: z.literal('kubernetes').optional(),
});

const kind = <T>(name: string, schema: z.ZodType<T>): ObjectKind<T> => ({
  name,
  version: 1,
  schema,
  migrations: {},
});

export const poolKind = kind('pool', pool);
export const blockKind = kind('block', block);
export const allocationRecordKind = kind('ledger', allocationRecord);
export const nodeKind = kind('node', node);
export const nodeLeaseKind = kind('presence', nodeLease);
export const unreachableKind = kind('absence', unreachable);
export const workloadKind = kind('workload', workload);
export const borrowRequestKind = kind('loan-request', borrowRequest);

export const podFactsKind = kind('pod-facts', podFacts);
export const policyStatusKind = kind('policy-status', policyStatus);
export const ovnPodKind = kind('ovn-pod', ovnPod);

export type Pool = z.output<typeof pool>;
export type Block = z.output<typeof block>;
export type AllocationRecord = z.output<typeof allocationRecord>;
export type Allocation = z.output<typeof allocation>;
export type Node = z.output<typeof node>;
export type NodeLease = z.output<typeof nodeLease>;
export type UnreachableNode = z.output<typeof unreachable>;
export type Workload = z.output<typeof workload>;
export type BorrowRequest = z.output<typeof borrowRequest>;

export type PodFacts = z.output<typeof podFacts>;
export type PolicyStatus = z.output<typeof policyStatus>;
export type OvnPodRecord = z.output<typeof ovnPod>;

export type PoolPart = Pick<Pool, 'name' | 'cidr'> & Partial<Pool>;

/** A pool with the defaults. Checks nothing. */
export function completePool(part: PoolPart): Pool {
  return {
    network: 'default',
    blockSize: part.cidr.includes(':') ? 122 : 26,
    encapsulation: 'vxlan-cross-subnet',
    natOutgoing: true,
    disabled: false,
    reserved: [],
    nodeSelector: '',
    assignment: 'automatic',
    allocation: 'blocks',
    borrowing: true,
    deleting: false,
    ...part,
  };
}
