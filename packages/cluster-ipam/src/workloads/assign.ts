/** Which pod of a workload has which of its addresses: written into the workload by compare-and-set, so no two get the same. */
import { type Workload, workloadKind, type Stored } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { decodeObject, encodeObject } from '@podwire/store';
import { transact } from '../calls.js';
import type { PodAddresses, PodName } from '../contract.js';
import type { Core } from '../core.js';
import { provide } from '../provide.js';
import { nameOf } from './match.js';

type Families = readonly (4 | 6)[];

const attempts = 16;
const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

/** @throws as {@link NodeAddressing.addressesFor} */
export async function addressesFor(
  core: Core,
  network: string,
  pod: PodName,
  families: Families,
  signal: AbortSignal,
): Promise<PodAddresses | undefined> {
  const workload = core.workloads.of(network, pod)?.value;
  if (workload === undefined) return undefined;
  const requested =
    workload.addresses.length === 0 ? [] : await takeStatic(core, network, pod, families, signal);
  const had = assignedTo(workload, pod).filter((address) => families.includes(familyOf(address)));
  const preferred = workload.sticky && requested.length === 0 ? had : [];
  for (const address of preferred) await tryToProvide(core, workload, address, signal);
  const pools = workload.pools.length === 0 ? {} : { pools: workload.pools };
  return { requested, preferred, workload: nameOf(workload), ...pools };
}

/** A pod may be called `constructor`, and have nothing. */
const assignedTo = ({ assigned }: Workload, { name }: PodName): readonly string[] =>
  Object.hasOwn(assigned, name) ? assigned[name]! : [];

/** What a sticky pod had is worth a try; it gets another address otherwise. */
async function tryToProvide(
  core: Core,
  workload: Workload,
  address: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await provide(core, needOf(workload, address), signal);
  } catch (error) {
    signal.throwIfAborted();
    core.log.info(
      { address, workload: nameOf(workload), err: error },
      'a sticky pod cannot have its address again',
    );
  }
}

const needOf = (workload: Workload, address: string) => ({
  network: workload.network,
  families: [familyOf(address)],
  requested: [address],
  workload: nameOf(workload),
});

/** One static address of each family that the workload has some of. */
async function takeStatic(
  core: Core,
  network: string,
  pod: PodName,
  families: Families,
  signal: AbortSignal,
): Promise<string[]> {
  const unusable = new Set<string>();
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stored = core.workloads.of(network, pod);
    if (stored === undefined) return [];
    const chosen = chooseStatic(core, stored.value, pod, families, unusable);
    if (!(await assign(core, stored, pod, chosen, signal))) continue;
    const refused = await firstRefused(core, stored.value, chosen, signal);
    if (refused === undefined) return chosen;
    unusable.add(refused);
  }
  throw new PodwireError(
    'STORE_CONFLICT',
    `workload of ${pod.namespace}/${pod.name}: others change it all the time`,
  );
}

/** What the pod has already, or else the first that no other pod has. @throws PodwireError ADDRESS_IN_USE */
function chooseStatic(
  core: Core,
  workload: Workload,
  pod: PodName,
  families: Families,
  unusable: ReadonlySet<string>,
): string[] {
  const others = Object.entries(workload.assigned).flatMap(([name, has]) => (name === pod.name ? [] : has));
  const taken = new Set([...others, ...unusable]);
  const mine = assignedTo(workload, pod).filter((address) => workload.addresses.includes(address));
  return families.flatMap((family) => {
    const all = workload.addresses.filter((address) => familyOf(address) === family);
    if (all.length === 0) return [];
    const free = [...mine, ...all].filter((address) => familyOf(address) === family && !taken.has(address));
    // One that this node knows to be in use by somebody else comes last: it would only be refused.
    const found = free.find((address) => core.book.entry(address) === undefined) ?? free[0];
    if (found !== undefined) return found;
    const message = `all IPv${family} addresses of workload ${nameOf(workload)} are taken (${all.join(', ')})`;
    throw new PodwireError('ADDRESS_IN_USE', message, {
      details: { owner: `workload ${nameOf(workload)}`, addresses: all },
    });
  });
}

/** @returns the address that cannot be had here */
async function firstRefused(
  core: Core,
  workload: Workload,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const address of addresses) {
    try {
      await provide(core, needOf(workload, address), signal);
    } catch (error) {
      if (!(error instanceof PodwireError) || error.code !== 'ADDRESS_IN_USE') throw error;
      core.log.info({ address, err: error }, 'a static address is not to be had; the next is tried');
      return address;
    }
  }
  return undefined;
}

/** @param addresses empty: the pod has nothing any more. @returns whether it is so in the store */
export async function assign(
  core: Core,
  { key, value, revision }: Stored<Workload>,
  pod: PodName,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  if (JSON.stringify(assignedTo(value, pod)) === JSON.stringify(addresses)) return true;
  const { [pod.name]: _, ...others } = value.assigned;
  const assigned = addresses.length === 0 ? others : { ...others, [pod.name]: [...addresses] };
  const next: Workload = { ...value, assigned };
  const writes = [{ op: 'put', key, value: encodeObject(workloadKind, next) }] as const;
  const conditions = [{ key, expect: revision }];
  const outcome = await transact(core, { conditions, writes }, signal);
  if (outcome.committed) {
    core.cache.note(key, next, outcome.revision);
    return true;
  }
  const [item] = outcome.found;
  if (item === undefined) core.cache.noteGone(key, revision);
  else core.cache.note(key, decodeObject(workloadKind, key, item.value), item.revision);
  return false;
}

export interface Assignment {
  readonly network: string;
  readonly pod: PodName;
  /** Undefined: the pod is gone. */
  readonly addresses: readonly string[] | undefined;
}

/** Writes down what a pod has got, or that it is gone. @throws as the store does */
export async function writeAssignment(
  core: Core,
  { network, pod, addresses }: Assignment,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stored = core.workloads.of(network, pod);
    if (stored === undefined) return;
    const { sticky, addresses: fixed } = stored.value;
    if (addresses === undefined && sticky) return;
    // Of one that is not sticky: what was its own may have been taken from it when an earlier pod of its name ended.
    const kept = sticky ? addresses : addresses?.filter((address) => fixed.includes(address));
    if (addresses !== undefined && kept?.length === 0) return;
    if (await assign(core, stored, pod, kept ?? [], signal)) return;
  }
}
