/**
 * Objects of OpenShift SDN that the controller has to answer before nodes can follow: a namespace gets its NetNamespace, and a change of
 * a VNID that is asked for is made.
 */
import {
  type AnyObject,
  networkAnnotations,
  type ObjectReference,
  type ObjectSource,
  referenceKey,
  referenceOf,
  type Revision,
  type StoredObject,
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
const pause = 50;

/** Waits for the controller. Resolves at once for objects that are not its business. */
export async function settleSdn(
  source: Pick<ObjectSource, 'list'>,
  applied: readonly ObjectReference[],
  { clock, milliseconds, signal }: SettleOptions,
): Promise<Settled> {
  const end = clock.elapsed() + milliseconds;
  let left = applied.filter(isConcerned);
  let revision = 0;
  while (left.length > 0) {
    const { objects } = await source.list({ signal });
    const stored = new Map(objects.map((each) => [referenceKey(referenceOf(each.object)), each]));
    const answers = left.map((each) => findAnswer(stored, each));
    revision = Math.max(revision, ...answers.map((found) => found ?? 0));
    left = left.filter((_, index) => answers[index] === undefined);
    if (left.length === 0 || clock.elapsed() >= end) break;
    await clock.sleep(pause, signal);
  }
  return { revision, waiting: left.map(({ kind, name }) => `${kind} ${name}`) };
}

const isConcerned = ({ kind, apiVersion: version }: ObjectReference): boolean =>
  version === apiVersion || (version === 'v1' && kind === 'Namespace');

/** The revision of what answers the object; undefined while there is no answer. */
function findAnswer(
  stored: ReadonlyMap<string, StoredObject>,
  reference: ObjectReference,
): Revision | undefined {
  const find = (kind: string, name: string) => stored.get(referenceKey({ apiVersion, kind, name }));
  const network = find('ClusterNetwork', 'default');
  // Nothing is handed out then.
  if (network === undefined) return 0;
  if (reference.kind === 'Namespace') return find('NetNamespace', reference.name)?.revision;
  if (reference.kind === 'ClusterNetwork') return find('NetNamespace', 'default')?.revision;
  const own = stored.get(referenceKey(reference));
  if (own === undefined) return 0;
  return isMultitenant(network.object) && isChangeWanted(own.object) ? undefined : own.revision;
}

const isMultitenant = (network: AnyObject): boolean =>
  String((network as { readonly pluginName?: unknown }).pluginName).endsWith('multitenant');

const isChangeWanted = ({ metadata }: AnyObject): boolean =>
  metadata.annotations?.[networkAnnotations.changeNetwork] !== undefined;
