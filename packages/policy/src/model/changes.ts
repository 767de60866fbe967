import type {
  DomainFact,
  HostEndpointFact,
  NamespaceFact,
  NetworkSetFact,
  NodeFact,
  PodFact,
  ServiceFact,
} from './facts.js';
import type { Policy, Profile, Tier } from './policy.js';

/** Everything that a compiler reads, by topic. */
export interface PolicyInputs {
  pod: PodFact;
  namespace: NamespaceFact;
  node: NodeFact;
  service: ServiceFact;
  'network-set': NetworkSetFact;
  'host-endpoint': HostEndpointFact;
  domain: DomainFact;
  tier: Tier;
  policy: Policy;
  profile: Profile;
}

/**
 * One change: the value under the key is now this; `undefined`: it is gone. Keys: `namespace/name` of pods, services and
 * network sets (global ones: the name alone), the id of a policy, the name of all else.
 */
export type InputChange = {
  readonly [T in keyof PolicyInputs]: {
    readonly topic: T;
    readonly key: string;
    readonly value: PolicyInputs[T] | undefined;
  };
}[keyof PolicyInputs];
