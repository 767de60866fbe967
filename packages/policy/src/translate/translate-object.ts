/** From an object to what a compiler reads. Pure; the same object always gives the same changes. */
import {
  type AdminNetworkPolicy,
  type AnyObject,
  type BaselineAdminNetworkPolicy,
  type CalicoGlobalNetworkPolicy,
  type CalicoGlobalNetworkSet,
  type CalicoHostEndpoint,
  type CalicoNetworkPolicy,
  type CalicoNetworkSet,
  type CalicoProfile,
  type CalicoTier,
  type ClusterNetworkPolicy,
  type Namespace,
  type NetworkPolicy,
  type ObjectReference,
  type Origin,
  referenceKey,
  referenceOf,
} from '@podwire/objects';
import type { InputChange, PolicyInputs } from '../model/changes.js';
import {
  tierName,
  translateCalicoPolicy,
  translateGlobalPolicy,
  translateProfile,
  translateTier,
} from './calico/policies.js';
import { translateHostEndpoint, translateNamespace, translateNetworkSet } from './facts.js';
import { translateAdminPolicy } from './kubernetes/admin-policies.js';
import { translateNetworkPolicy } from './kubernetes/network-policy.js';
import { translateUnreadable } from './unreadable.js';
import { Untranslatable } from './untranslatable.js';

/** The topic and the key that a kind is translated to. */
interface Translation<T extends AnyObject, Topic extends keyof PolicyInputs> {
  readonly topic: Topic;
  readonly keyOf: (reference: ObjectReference) => string;
  /** Undefined: it changes nothing. */
  readonly translate: (object: T, origin: Origin | undefined) => PolicyInputs[Topic] | undefined;
}

type AnyTranslation = Translation<AnyObject, keyof PolicyInputs>;

/** The schema of the kind has read the object, so that it is of the kind's type. */
const define = <T extends AnyObject, Topic extends keyof PolicyInputs>(
  translation: Translation<T, Topic>,
): AnyTranslation => translation as unknown as AnyTranslation;

const nameOf = ({ name }: ObjectReference): string => name;
const fullNameOf = ({ namespace = 'default', name }: ObjectReference): string => `${namespace}/${name}`;

const policy = <T extends AnyObject>(translate: Translation<T, 'policy'>['translate']): AnyTranslation =>
  define<T, 'policy'>({ topic: 'policy', keyOf: referenceKey, translate });

const admin = policy<AdminNetworkPolicy | BaselineAdminNetworkPolicy | ClusterNetworkPolicy>(
  translateAdminPolicy,
);

const translations: ReadonlyMap<string, AnyTranslation> = new Map([
  [
    'v1 Namespace',
    define<Namespace, 'namespace'>({ topic: 'namespace', keyOf: nameOf, translate: translateNamespace }),
  ],
  ['networking.k8s.io/v1 NetworkPolicy', policy<NetworkPolicy>(translateNetworkPolicy)],
  ['policy.networking.k8s.io/v1alpha1 AdminNetworkPolicy', admin],
  ['policy.networking.k8s.io/v1alpha1 BaselineAdminNetworkPolicy', admin],
  ['policy.networking.k8s.io/v1alpha2 ClusterNetworkPolicy', admin],
  ['projectcalico.org/v3 NetworkPolicy', policy<CalicoNetworkPolicy>(translateCalicoPolicy)],
  ['projectcalico.org/v3 GlobalNetworkPolicy', policy<CalicoGlobalNetworkPolicy>(translateGlobalPolicy)],
  [
    'projectcalico.org/v3 Tier',
    define<CalicoTier, 'tier'>({
      topic: 'tier',
      keyOf: ({ name }) => tierName(name),
      translate: translateTier,
    }),
  ],
  [
    'projectcalico.org/v3 NetworkSet',
    define<CalicoNetworkSet, 'network-set'>({
      topic: 'network-set',
      keyOf: fullNameOf,
      translate: translateNetworkSet,
    }),
  ],
  [
    'projectcalico.org/v3 GlobalNetworkSet',
    define<CalicoGlobalNetworkSet, 'network-set'>({
      topic: 'network-set',
      keyOf: nameOf,
      translate: translateNetworkSet,
    }),
  ],
  [
    'projectcalico.org/v3 HostEndpoint',
    define<CalicoHostEndpoint, 'host-endpoint'>({
      topic: 'host-endpoint',
      keyOf: nameOf,
      translate: translateHostEndpoint,
    }),
  ],
  [
    'projectcalico.org/v3 Profile',
    define<CalicoProfile, 'profile'>({ topic: 'profile', keyOf: nameOf, translate: translateProfile }),
  ],
]);

const translationOf = ({ apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>) =>
  translations.get(`${apiVersion} ${kind}`);

/**
 * Inputs for the compiler once the object is there. Kinds that policy does not read give nothing; slices of services go
 * through a ServiceIndex. An object that the normal form cannot say becomes a policy that closes what it selects.
 */
export function translateObject(object: AnyObject, origin?: Origin): InputChange[] {
  const translation = translationOf(object);
  if (translation === undefined) return [];
  const reference = referenceOf(object);
  try {
    const value = translation.translate(object, origin);
    return value === undefined ? [] : [toChange(translation, reference, value)];
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error;
    const { file = '', line = 0 } = origin ?? {};
    const problems = [{ file, line, field: error.field, message: error.message }];
    return translateUnreadable({ reference, revision: 0, problems, content: object });
  }
}

/** Inputs for the compiler once the object has gone. */
export function translateRemoval(reference: ObjectReference): InputChange[] {
  const translation = translationOf(reference);
  const isKept = translation?.topic === 'tier' && reference.name === 'default';
  return translation === undefined || isKept ? [] : [toChange(translation, reference, undefined)];
}

const toChange = (
  { topic, keyOf }: AnyTranslation,
  reference: ObjectReference,
  value: PolicyInputs[keyof PolicyInputs] | undefined,
): InputChange => ({ topic, key: keyOf(reference), value }) as InputChange;
