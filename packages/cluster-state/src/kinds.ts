/** What is in the store, kind by kind. Changing one: raise its version and add a migration. */
import { parseAddress, parseInterfaceAddress, parsePrefix, specialKinds } from '@podwire/addresses';
import { encapsulations } from '@podwire/network-contract';
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

/** DNS label rules, as Kubernetes names nodes, but also with dots and upper case; safe as a part of a key. */
export const objectName = z
  .string()
  .max(253)
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    'no name: letters, digits, dots, dashes and underscores',
  );
const prefix = z.string().max(64).refine(reads(parsePrefix), 'no ADDRESS/LENGTH');
/** Of pods: a node that obeyed a block of loopback or of everything would take the network from its machine. */
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
  /** Prefix length of the blocks that nodes claim whole. */
  blockSize: z.int().min(20).max(128),
  encapsulation: z.enum(encapsulations),
  natOutgoing: z.boolean(),
  /** No new leases and no new blocks; what is there stays. */
  disabled: z.boolean(),
  /** Prefixes and single addresses that are never handed out. */
  reserved: z.array(z.union([prefix, address])).max(4096),
  /** Kubernetes label selector over node labels (`zone in (a,b),disk=ssd`); empty: every node. */
  nodeSelector: z.string().max(4096),
  /**
   * `automatic`: for everybody. `manual`: only for who asks for the pool or for an address of it.
   */
  assignment: z.enum(['automatic', 'manual']),
  /**
   * `blocks`: nodes claim blocks as they need them. `node-cidr`: a node has exactly one block of this pool for its life, its
   * podCIDR, and the second address of it is the gateway that plugins like `bridge` use (host-local's way).
   */
  allocation: z.enum(['blocks', 'node-cidr']),
  /** When no free block is left: whether other nodes are asked for single addresses of theirs. */
  borrowing: z.boolean(),
  /** No node may hold more blocks than this. */
  maxBlocksPerNode: z.int().min(1).max(65_536).optional(),
  /** Set while the pool is being deleted: treated as disabled. */
  deleting: z.boolean(),
});

/**
 * A block and whose it is: the only truth about that, written with compare-and-set alone. Which of its addresses are in use
 * is known to its owner; see {@link allocationRecordKind} for what the owner tells about it. It names no pool: that is the one whose
 * cidr holds it, so pools can be split while blocks are in use.
 */
const block = z.strictObject({
  cidr: podPrefix,
  /** Whose it is; absent: nobody's any more, but some of its addresses are lent (`loans`) and still in use. */
  node: objectName.optional(),
  /** The owner's instance when it claimed it; see {@link nodeKind}. */
  instance: z.string().max(64).optional(),
  /**
   * `pending`: claimed, the owner has not confirmed that it knows; nobody routes to it. `confirmed`.
   * `pendingDeletion`: the owner hands nothing out any more and takes its routes down before it gives it back.
   */
  state: z.enum(['pending', 'confirmed', 'pendingDeletion']),
  claimedAt: milliseconds,
  /** Single addresses that other nodes have of it. Their owner never hands them out. */
  loans: z.array(z.strictObject({ address, node: objectName })).max(4096),
});

/** One address in use, as its node reports it. `owner` is the endpoint's key. */
const ledgerEntry = z.strictObject({
  address,
  owner: z.string().max(1024),
  pod: z.string().max(512).optional(),
  since: milliseconds,
});

/** What is in use of one block, by one node: a cache for people and for the controller, written in the background. */
const ledger = z.strictObject({
  cidr: prefix,
  node: objectName,
  entries: z.array(ledgerEntry).max(4096),
  reportedAt: milliseconds,
  /**
   * Written by an import: the node has said nothing itself yet, and its pods may be alive although nobody has registered it.
   * Gone with the node's own first report.
   */
  imported: z.literal(true).optional(),
});

const node = z.strictObject({
  name: objectName,
  /** Made up when the state directory is new (so: by each boot). Two agents of one name have different ones. */
  instance: z.string().min(1).max(64),
  version: z.string().max(64),
  labels: z.record(z.string().max(317), z.string().max(63)),
  /** Of the underlay, ADDRESS/LENGTH: the length says who shares the segment. */
  addresses: z.strictObject({ ipv4: interfaceAddress.optional(), ipv6: interfaceAddress.optional() }),
  /** MTU of the underlay, bytes. */
  mtu: z.int().min(576).max(65_535),
  /** The node's end of tunnels. Its addresses come from blocks of its own. */
  tunnel: z.strictObject({ mac, ipv4: address.optional(), ipv6: address.optional() }).optional(),
  /** Autonomous system, when it speaks BGP. */
  asn: z.int().min(1).max(4_294_967_295).optional(),
  /**
   * Milliseconds of absence after which others may be given what the node has; it hands nothing out well before that. Only the
   * node can say so, since its agent counts by its own configuration. Absent: whatever the controller was told.
   */
  vanishAfter: milliseconds.optional(),
  registeredAt: milliseconds,
});

/**
 * There while the node's agent is in touch with the store: bound to a lease. The transaction that writes it deletes the node's
 * {@link unreachableKind} object: a node that was back between two looks of a controller begins to be absent anew.
 */
const presence = z.strictObject({
  node: objectName,
  instance: z.string().min(1).max(64),
  since: milliseconds,
});

/** Written by the controller when a node's presence ends, deleted when it is back. Survives the controller. */
const absence = z.strictObject({
  node: objectName,
  instance: z.string().min(1).max(64),
  /** By the wall clock of the controller that saw it first. */
  since: milliseconds,
  /**
   * Milliseconds of absence that controllers have counted on their monotonic clocks, noted now and then. A wall clock that jumps
   * makes nobody vanish, and a controller that takes over does not begin anew.
   */
  observed: milliseconds.optional(),
});

/** Addresses or pools for the pods of one workload, kept over their re-creation. */
const workload = z.strictObject({
  network: objectName,
  namespace: objectName,
  /** A pod's name, or the beginning of names with `*` at its end: `web-*`. */
  name: z.string().min(1).max(253),
  /** Handed out to its pods, each to one at a time. */
  addresses: z.array(address).max(1024),
  /** Only these pools, by name. */
  pools: z.array(objectName).max(64),
  /** A pod that is created again under its name gets what it had, on whatever node. */
  sticky: z.boolean(),
  /** Who has what of it: pod name to addresses. Kept after the pod is gone when `sticky`. */
  assigned: z.record(z.string().max(253), z.array(address).max(2)),
});

/** A node asks the owner of a block for an address of it. Deleted by the asker when it is answered (the block's `loans`). */
const loanRequest = z.strictObject({
  block: prefix,
  node: objectName,
  /** This one; absent: any. */
  address: address.optional(),
  askedAt: milliseconds,
  /** Why the owner refuses; absent while it has not looked. */
  refused: z.string().max(256).optional(),
});

const kind = <T>(name: string, schema: z.ZodType<T>): ObjectKind<T> => ({
  name,
  version: 1,
  schema,
  migrations: {},
});

export const poolKind = kind('pool', pool);
export const blockKind = kind('block', block);
export const allocationRecordKind = kind('ledger', ledger);
export const nodeKind = kind('node', node);
export const nodeLeaseKind = kind('presence', presence);
export const unreachableKind = kind('absence', absence);
export const workloadKind = kind('workload', workload);
export const borrowRequestKind = kind('loan-request', loanRequest);

export type Pool = z.output<typeof pool>;
export type Block = z.output<typeof block>;
export type AllocationRecord = z.output<typeof ledger>;
export type Allocation = z.output<typeof ledgerEntry>;
export type Node = z.output<typeof node>;
export type NodeLease = z.output<typeof presence>;
export type UnreachableNode = z.output<typeof absence>;
export type Workload = z.output<typeof workload>;
export type BorrowRequest = z.output<typeof loanRequest>;
