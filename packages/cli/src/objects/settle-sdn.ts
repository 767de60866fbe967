/**
 * Objects of OpenShift SDN that the controller has to answer before nodes can follow: a namespace gets its NetNamespace, and a change of
 * a VNID that is asked for is made.
 */
import {
  networkAnnotations,
  type AnyObject,
  type ObjectReference,
  type ObjectSource,
  type Revision,
} from '@podwire/objects';
import type { Clock } from '@podwire/platform';

export interface SettleOptions {
  readonly clock: Clock;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

export interface Settled {
  /** Of the last change that follows from the objects; 0 where there is none. */
  readonly revision: Revision;
  /** Objects that the controller has not answered in time. */
  readonly waiting: readonly string[];
}

const apiVersion = 'network.openshift.io/v1';
/** Milliseconds between two looks. */
const pause = 20;

/** Waits for the controller. Resolves at once for objects that are not its business. */
export async function settleSdn(
  source: Pick<ObjectSource, 'get'>,
  applied: readonly ObjectReference[],
  { clock, milliseconds, signal }: SettleOptions,
): Promise<Settled> {
  const end = clock.elapsed() + milliseconds;
  let left = applied.filter(isConcerned);
  let revision = 0;
  while (left.length > 0) {
    const looks = await Promise.all(left.map((each) => findAnswer(source, each, signal)));
    revision = Math.max(revision, ...looks.map((found) => found ?? 0));
    left = left.filter((_, index) => looks[index] === undefined);
    if (left.length === 0 || clock.elapsed() >= end) break;
    await clock.sleep(pause, signal);
  }
  return { revision, waiting: left.map(({ kind, name }) => `${kind} ${name}`) };
}

const isConcerned = ({ kind, apiVersion: version }: ObjectReference): boolean =>
  version === apiVersion || (version === 'v1' && kind === 'Namespace');

/** The revision of what answers the object; undefined while there is no answer. */
async function findAnswer(
  source: Pick<ObjectSource, 'get'>,
  reference: ObjectReference,
  signal: AbortSignal,
): Promise<Revision | undefined> {
  const get = (kind: string, name: string) => source.get({ apiVersion, kind, name }, { signal });
  const network = await get('ClusterNetwork', 'default');
  // Nothing is handed out then.
  if (network === undefined) return 0;
  if (reference.kind === 'Namespace') return (await get('NetNamespace', reference.name))?.revision;
  if (reference.kind === 'ClusterNetwork') return (await get('NetNamespace', 'default'))?.revision;
  const stored = await source.get(reference, { signal });
  if (stored === undefined) return 0;
  return isMultitenant(network.object) && isChangeWanted(stored.object) ? undefined : stored.revision;
}

const isMultitenant = (network: AnyObject): boolean =>
  String((network as { readonly pluginName?: unknown }).pluginName).endsWith('multitenant');

const isChangeWanted = ({ metadata }: AnyObject): boolean =>
  metadata.annotations?.[networkAnnotations.changeNetwork] !== undefined;
