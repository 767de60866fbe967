/** Sets of policies over the labels, ports and addresses of a cluster. */
import type { AnyObject } from '@podwire/objects';
import fc from 'fast-check';
import type { Cluster } from '../cluster.js';
import {
  arbitraryCalicoPolicy,
  arbitraryHostEndpoint,
  arbitraryNetworkSet,
  arbitraryProfile,
  arbitraryTiers,
} from './calico.js';
import {
  arbitraryAdminPolicy,
  arbitraryBaselinePolicy,
  arbitraryClusterPolicy,
  arbitraryNetworkPolicy,
} from './kubernetes.js';
import { makeVocabulary, type Vocabulary } from './vocabulary.js';

/** `mixed`: all kinds together. */
export type PolicyFamily = 'kubernetes' | 'admin' | 'calico' | 'mixed';

/** Names differ by number, so that a set has no two objects with one name. */
type MakePolicy = (vocabulary: Vocabulary, name: string) => fc.Arbitrary<AnyObject>;

const makers: Readonly<Record<PolicyFamily, readonly MakePolicy[]>> = {
  kubernetes: [arbitraryNetworkPolicy],
  admin: [arbitraryAdminPolicy, arbitraryClusterPolicy, arbitraryNetworkPolicy],
  calico: [arbitraryCalicoPolicy, arbitraryCalicoPolicy, arbitraryNetworkSet, arbitraryNetworkPolicy],
  mixed: [
    arbitraryNetworkPolicy,
    arbitraryNetworkPolicy,
    arbitraryAdminPolicy,
    arbitraryClusterPolicy,
    arbitraryCalicoPolicy,
    arbitraryCalicoPolicy,
    arbitraryNetworkSet,
  ],
};

/** One object of the family; `name` must be its own in the set. */
export const arbitraryObject = (
  cluster: Cluster,
  family: PolicyFamily,
  name: string,
): fc.Arbitrary<AnyObject> => {
  const vocabulary = makeVocabulary(cluster);
  return fc.oneof(...makers[family].map((make) => make(vocabulary, name)));
};

/** Up to `most` policies, with the tiers, baseline, profiles and host endpoints that belong to the family. */
export function arbitraryPolicies(
  cluster: Cluster,
  family: PolicyFamily = 'mixed',
  most = 6,
): fc.Arbitrary<AnyObject[]> {
  const vocabulary = makeVocabulary(cluster);
  const policies = fc
    .integer({ min: 1, max: most })
    .chain((count) =>
      fc.tuple(...Array.from({ length: count }, (_, index) => arbitraryObject(cluster, family, `p${index}`))),
    );
  return fc
    .tuple(policies, arbitraryFrame(cluster, vocabulary, family))
    .map(([list, frame]) => [...frame, ...list]);
}

/** Objects around the policies. Profiles and host endpoints close a lot, and are seldom. */
function arbitraryFrame(
  cluster: Cluster,
  vocabulary: Vocabulary,
  family: PolicyFamily,
): fc.Arbitrary<AnyObject[]> {
  const isAdmin = family === 'admin' || family === 'mixed';
  const isCalico = family === 'calico' || family === 'mixed';
  const [node] = cluster.nodes;
  return fc
    .tuple(
      isCalico ? arbitraryTiers() : none,
      isAdmin ? sometimes(arbitraryBaselinePolicy(vocabulary), 2) : none,
      isCalico ? sometimes(arbitraryProfile(vocabulary), 5) : none,
      isCalico && node !== undefined ? sometimes(arbitraryHostEndpoint(vocabulary, node), 4) : none,
    )
    .map((parts) => parts.flat());
}

const none = fc.constant<AnyObject[]>([]);

/** Once in so many times. */
const sometimes = (arbitrary: fc.Arbitrary<AnyObject>, in_: number): fc.Arbitrary<AnyObject[]> =>
  fc.oneof(
    { weight: in_ - 1, arbitrary: none },
    { weight: 1, arbitrary: arbitrary.map((object) => [object]) },
  );

/** The same sets for the same seed: for tests that have a cluster of their own, with real packets. */
export function samplePolicySets(
  cluster: Cluster,
  options: { readonly count: number; readonly seed: number; readonly family?: PolicyFamily | undefined },
): AnyObject[][] {
  const { count, seed, family } = options;
  return fc.sample(arbitraryPolicies(cluster, family), { numRuns: count, seed });
}
