/** Policies of a dump, and what they speak of, as Podwire's own objects. */
import { type AnyObject, type CheckedObject, checkObject } from '@podwire/objects';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const version = 'projectcalico.org/v3';

const calicoKinds = [
  'Tier',
  'NetworkPolicy',
  'GlobalNetworkPolicy',
  'NetworkSet',
  'GlobalNetworkSet',
  'HostEndpoint',
  'Profile',
];

/** As a raw object's kind has it: Kubernetes' own policies are enforced by Calico, too, and rules select namespaces by labels. */
const otherKinds = [
  'Kubernetes Namespace',
  'NetworkPolicy (networking.k8s.io/v1)',
  'AdminNetworkPolicy (policy.networking.k8s.io/v1alpha1)',
  'BaselineAdminNetworkPolicy (policy.networking.k8s.io/v1alpha1)',
  'ClusterNetworkPolicy (policy.networking.k8s.io/v1alpha2)',
];

const kinds: ReadonlySet<string> = new Set([...calicoKinds, ...otherKinds]);

export const isPolicyKind = (kind: string): boolean => kinds.has(kind);

/** Calico keeps its own metadata of a custom resource in this annotation: labels, above all. */
const metadataAnnotation = 'projectcalico.org/metadata';

export interface PolicyObject {
  /** Milliseconds since 1970; 0: not known. */
  readonly created: number;
  readonly checked: CheckedObject;
}

/** Custom resources (`crd.projectcalico.org/v1`) and Calico's API (`projectcalico.org/v3`) have the same fields. */
export function readPolicyObject(kind: string, value: unknown): PolicyObject {
  const given = isFields(value) ? value : {};
  const metadata = isFields(given['metadata']) ? given['metadata'] : {};
  const isCalico = calicoKinds.includes(kind);
  const wanted = isCalico
    ? { ...given, apiVersion: version, kind, metadata: mergeMetadata(metadata) }
    : given;
  const time = metadata['creationTimestamp'];
  const created = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return { created: Number.isNaN(created) ? 0 : created, checked: checkObject(wanted) };
}

function mergeMetadata(metadata: Fields): Fields {
  const annotations = isFields(metadata['annotations']) ? metadata['annotations'] : {};
  const { [metadataAnnotation]: kept, ...rest } = annotations;
  const own = parseKept(kept);
  return {
    ...metadata,
    ...merged('labels', [own['labels'], metadata['labels']]),
    ...merged('annotations', [own['annotations'], rest]),
  };
}

function parseKept(text: unknown): Fields {
  if (typeof text !== 'string') return {};
  try {
    const parsed: unknown = JSON.parse(text);
    return isFields(parsed) ? parsed : {};
  } catch {
    // An annotation of the same name that is not Calico's.
    return {};
  }
}

function merged(key: string, parts: readonly unknown[]): Fields {
  const all = Object.assign({}, ...parts.filter(isFields)) as Fields;
  return Object.keys(all).length === 0 ? { [key]: undefined } : { [key]: all };
}

/** Tiers that Calico makes by itself; Podwire has others in their places. */
const ownTiers: ReadonlySet<string> = new Set([
  'default',
  'adminnetworkpolicy',
  'baselineadminnetworkpolicy',
  'kube-admin',
  'kube-baseline',
]);

export const isOwnTier = ({ kind, metadata: { name } }: AnyObject): boolean =>
  kind === 'Tier' && ownTiers.has(name);

/** Calico's host endpoints of its own making have this profile, which is in no datastore. */
export const allowProfileName = 'projectcalico-default-allow';

export const allowProfile: AnyObject = readKnown({
  apiVersion: version,
  kind: 'Profile',
  metadata: { name: allowProfileName },
  spec: { ingress: [{ action: 'Allow' }], egress: [{ action: 'Allow' }] },
});

function readKnown(value: unknown): AnyObject {
  const checked = checkObject(value);
  if (!checked.ok) throw new TypeError('the built-in profile is no profile');
  return checked.object;
}
