/** Differences of a store, as a plan follows them. Pure. */
import { type decodeStoredObject, type IP, isEqual, type StoredObject } from '@podwire/objects';
import type { LookChanges } from '../cluster/contract.js';
import type { Difference } from './mirror.js';
import { type ReadNode, type ReadPod, toPod } from './records.js';

type ReadObject = ReturnType<typeof decodeStoredObject>;

export interface Differences {
  readonly objects: readonly Difference<ReadObject>[];
  readonly pods: readonly Difference<ReadPod>[];
  readonly nodes: readonly Difference<ReadNode>[];
  readonly leases: readonly Difference<string>[];
}

/** @returns undefined where more has changed than pods, IP objects, the status of other objects, and what nodes say of networks */
export function readChanges({ objects, pods, nodes, leases }: Differences): LookChanges | undefined {
  const others = objects.filter((difference) => !isOfIp(difference));
  const isSame = leases.every(({ before, after }) => before === after) && nodes.every(isOfProviders);
  if (!isSame || !others.every(isOfStatus)) return undefined;
  return {
    pods: new Map(pods.map(toPodChange)),
    ips: new Map(objects.filter(isOfIp).map(toIpChange)),
    providers: new Map(nodes.flatMap(toProviderChange)),
  };
}

const isOfProviders = ({ before, after }: Difference<ReadNode>): boolean =>
  before !== undefined && after !== undefined && isEqual(before.addresses, after.addresses);

const toProviderChange = ({ before, after }: Difference<ReadNode>) =>
  isEqual(before?.providers, after!.providers) ? [] : [[after!.name, after!.providers] as const];

const statesOf = <T>({ before, after }: Difference<T>): T[] => [before ?? [], after ?? []].flat() as T[];

/** Readable before and after, as far as it was or is there. */
const isOfIp = (difference: Difference<ReadObject>): boolean =>
  statesOf(difference).every(({ stored }) => stored?.object.kind === 'IP');

/** Own writes, for the most part. */
function isOfStatus({ before, after }: Difference<ReadObject>): boolean {
  const [was, is] = [before?.stored, after?.stored];
  if (was === undefined || is === undefined || was.created !== is.created) return false;
  return isEqual(withoutStatus(was), withoutStatus(is));
}

const withoutStatus = ({ object }: StoredObject) => ({ ...object, status: undefined });

function toPodChange({ before, after }: Difference<ReadPod>) {
  const pod = after?.found === undefined ? after && ('unreadable' as const) : toPod(after.found);
  return [(after ?? before!).id, pod] as const;
}

function toIpChange({ before, after }: Difference<ReadObject>) {
  // Of the group, this kind alone: its schema has read it.
  const [was, is] = [before?.stored, after?.stored] as (StoredObject<IP> | undefined)[];
  return [(is ?? was!).object.metadata.name, is] as const;
}
