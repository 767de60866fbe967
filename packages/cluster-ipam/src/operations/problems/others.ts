/** Problems of pools, workloads, unreachable and requests; and objects that cannot be read. */
import { overlaps } from '@podwire/addresses';
import {
  type UnreachableNode,
  type BorrowRequest,
  type Stored,
  type Workload,
  workloadKind,
} from '@podwire/cluster-state';
import { type Condition, encodeObject, type Expectation } from '@podwire/store';
import { knownAddresses, metBy } from '../known-addresses.js';
import { poolAround } from '../snapshot.js';
import { compareCidrs, listSome, prefixFrom } from '../text.js';
import { nameOfWorkload, withoutAssignments } from '../workload-rules.js';
import { type Evidence, type Problem, leave, repair, nodeStateOf } from './problem.js';

export function findElsewhere(evidence: Evidence): Problem[] {
  const { snapshot } = evidence;
  const inUse = new Set(
    snapshot.allocationRecords.flatMap(({ value }) => value.entries.map(({ address }) => address)),
  );
  return [
    ...findPools(evidence),
    ...findMet(evidence),
    ...snapshot.workloads.flatMap((workload) => findInWorkload(evidence, workload, inUse)),
    ...[...snapshot.unreachable.values()].flatMap((absence) => findAbsence(evidence, absence)),
    ...snapshot.borrowRequests.flatMap((request) => findRequest(evidence, request)),
    ...snapshot.unreadable.map(({ key, reason, revision }): Problem => ({
      id: `unreadable:${key}:${revision}`,
      kind: 'unreadable',
      subject: key,
      message: reason,
      addresses: [],
      fix: leave('correct it or delete it in the store; until then what nodes knew of it before is in force'),
    })),
  ];
}

function findPools({ snapshot }: Evidence): Problem[] {
  const sorted = [...snapshot.pools.values()]
    .map(({ value }) => value)
    .sort((a, b) => compareCidrs(a.cidr, b.cidr));
  let outer = sorted[0];
  return sorted.slice(1).flatMap((pool): Problem[] => {
    if (outer === undefined || !overlaps(prefixFrom(outer.cidr), prefixFrom(pool.cidr))) {
      outer = pool;
      return [];
    }
    return [
      {
        id: `doubled:pools:${outer.name}:${pool.name}`,
        kind: 'doubled',
        subject: `pool ${pool.name}`,
        message: `pool ${pool.name} (${pool.cidr}) overlaps pool ${outer.name} (${outer.cidr})`,
        addresses: [],
        fix: leave('disable one, wait until its pods are gone, and delete it'),
      },
    ];
  });
}

/** A node may join, or be given another address, after the pool was made. */
function findMet({ snapshot }: Evidence): Problem[] {
  const known = knownAddresses(snapshot);
  return [...snapshot.pools.values()].flatMap(({ value: pool }) =>
    metBy(pool, known).map(({ address, whose }): Problem => ({
      id: `doubled:pool:${pool.name}:${address}:${whose}`,
      kind: 'doubled',
      subject: `pool ${pool.name}`,
      message: `pool ${pool.name} (${pool.cidr}) has ${address}, the address of ${whose}`,
      addresses: [address],
      fix: leave(
        `no pod gets it; \`podwire pool update ${pool.name} --reserved …\` says so for good, or take another pool`,
      ),
    })),
  );
}

function findInWorkload(evidence: Evidence, stored: Stored<Workload>, inUse: ReadonlySet<string>): Problem[] {
  return [...findBadIntent(evidence, stored.value), ...findAssignments(evidence, stored, inUse)];
}

function findBadIntent({ snapshot }: Evidence, workload: Workload): Problem[] {
  const name = nameOfWorkload(workload);
  const outside = workload.addresses.filter(
    (address) => poolAround(snapshot.pools, prefixFrom(address)) === undefined,
  );
  const pools = workload.pools.filter((pool) => !snapshot.pools.has(pool));
  const about = { subject: `workload ${name}`, fix: leave(`\`podwire workload set ${name}\` changes it`) };
  return [
    ...(outside.length === 0
      ? []
      : [
          {
            ...about,
            id: `outside:workload:${name}:${outside.join(',')}`,
            kind: 'outside' as const,
            message: `workload ${name} wants ${listSome(outside)}, which no pool has`,
            addresses: outside,
          },
        ]),
    ...(pools.length === 0
      ? []
      : [
          {
            ...about,
            id: `orphaned:workload:${name}:${pools.join(',')}`,
            kind: 'orphaned' as const,
            message: `workload ${name} wants pools that do not exist: ${listSome(pools)}`,
            addresses: [],
          },
        ]),
  ];
}

/** Assignments in no pool, or of a workload that is not sticky to a pod that no longer has the address. */
function findAssignments(
  { snapshot }: Evidence,
  { key, value: workload, revision }: Stored<Workload>,
  inUse: ReadonlySet<string>,
): Problem[] {
  const name = nameOfWorkload(workload);
  const assigned = Object.values(workload.assigned).flat();
  const isOutside = (address: string): boolean =>
    !inUse.has(address) && poolAround(snapshot.pools, prefixFrom(address)) === undefined;
  const isIdle = (address: string): boolean => !workload.sticky && !inUse.has(address);
  const gone = assigned.filter((address) => isOutside(address) || isIdle(address));
  if (gone.length === 0) return [];
  const rest = withoutAssignments(workload, (address) => gone.includes(address));
  const transaction = {
    conditions: [{ key, expect: revision }],
    writes: [{ op: 'put' as const, key, value: encodeObject(workloadKind, rest) }],
  };
  const pods = Object.entries(workload.assigned)
    .filter(([, addresses]) => addresses.some((address) => gone.includes(address)))
    .map(([pod]) => pod);
  return [
    {
      id: `orphaned:assignment:${name}:${revision}:${gone.join(',')}`,
      kind: 'orphaned',
      subject: `workload ${name}`,
      message: `workload ${name} keeps ${listSome(gone)} for ${listSome(pods)}, and no pod has them`,
      addresses: gone,
      // The pod may have got it a moment ago, and its node not have reported it.
      fix: repair(`frees ${listSome(gone)} in workload ${name}`, transaction, !gone.every(isOutside)),
    },
  ];
}

function findAbsence(
  { snapshot, keys }: Evidence,
  { key, value: { node, since }, revision }: Stored<UnreachableNode>,
): Problem[] {
  const nodeState = nodeStateOf(snapshot, node);
  if (nodeState === 'registered') return [];
  const presence: Expectation = snapshot.nodeLeases.get(node)?.revision ?? 'absent';
  const isBack = nodeState === 'present';
  const conditions: Condition[] = [
    { key, expect: revision },
    { key: keys.nodeLease(node), expect: presence },
    ...(isBack ? [] : [{ key: keys.node(node), expect: 'absent' } as const]),
  ];
  return [
    {
      id: `orphaned:absence:${node}:${since}`,
      kind: 'orphaned',
      subject: `absence of ${node}`,
      message: `node ${node} is noted as absent, but ${isBack ? 'it is there' : 'there is no such node'}`,
      node,
      addresses: [],
      fix: repair(`deletes the absence of ${node}`, { conditions, writes: [{ op: 'delete', key }] }),
    },
  ];
}

function findRequest(
  { snapshot, now, requestLimit }: Evidence,
  { key, value: request, revision }: Stored<BorrowRequest>,
): Problem[] {
  const age = now - request.askedAt;
  if (age < requestLimit) return [];
  const what = request.address ?? `an address of ${request.block}`;
  return [
    {
      id: `orphaned:loan-request:${key}:${revision}`,
      kind: 'orphaned',
      subject: `request of ${request.node}`,
      message: `node ${request.node} asked ${Math.round(age / 1000)} s ago for ${what}, and does not wait for it any more`,
      ...(nodeStateOf(snapshot, request.node) === 'unknown' ? {} : { node: request.node }),
      addresses: [],
      fix: repair(`deletes the request of ${request.node}`, {
        conditions: [{ key, expect: revision }],
        writes: [{ op: 'delete', key }],
      }),
    },
  ];
}
