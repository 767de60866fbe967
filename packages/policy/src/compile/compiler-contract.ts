import type { InputChange } from '../model/changes.js';
import type { PodFact, PodKey } from '../model/facts.js';
import type { CompiledDelta, CompiledEndpoint, CompiledPolicy, CompiledState, PolicyId } from './contract.js';

export interface CompilerOptions {
  /** Endpoints of this node are compiled, and what they need. */
  readonly node: string;
}

/** Pure: no I/O, no clock. What a call costs follows what has changed. */
export interface PolicyCompiler {
  /** Takes changes in and returns what they change in the compiled form. */
  apply(changes: readonly InputChange[]): CompiledDelta;
  readonly state: CompiledState;
  /** The compiled endpoint of any pod of the cluster, with its policies and sets; for `policy show` and `explain`. */
  inspect(pod: PodKey): PodInspection | undefined;
  /** True if a policy's selection of pods in the namespace looks at labels of pods: then labels must be known. */
  dependsOnLabels(namespace: string): boolean;
}

export interface PodInspection {
  readonly pod: PodFact;
  readonly endpoint: CompiledEndpoint;
  readonly policies: ReadonlyMap<PolicyId, CompiledPolicy>;
  /** All sets that the policies name, also those that are not in force on this node. */
  readonly sets: CompiledState['sets'];
}

/** One connection as its first packet shows it, after translation. Addresses without a length. */
export interface Connection {
  readonly source: string;
  readonly destination: string;
  readonly protocol: 'tcp' | 'udp' | 'sctp' | 'icmp' | 'icmpv6' | number;
  readonly sourcePort?: number | undefined;
  readonly destinationPort?: number | undefined;
  readonly icmpType?: number | undefined;
  readonly icmpCode?: number | undefined;
}

/** The reason for a verdict: a rule of a policy, the end of a tier, or the default. */
export interface Decision {
  readonly verdict: 'allow' | 'deny';
  readonly policy?: PolicyId | undefined;
  /** `spec.ingress[0]` */
  readonly path?: string | undefined;
  readonly reason:
    'rule' | 'end-of-tier' | 'default' | 'same-node' | 'failsafe' | 'broken' | 'apart' | 'unenforced';
  readonly tier?: string | undefined;
}
