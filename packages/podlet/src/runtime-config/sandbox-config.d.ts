import type { BuildSandboxConfig } from '../parts.js';
import { type Pod } from '@podwire/pod-spec';
import type { PodletDirectories } from '../contract.js';
/** The sandbox of a pod. What DNS had to leave out is told by {@link podDns}. */
export declare const buildSandboxConfig: BuildSandboxConfig;
/** `<logs>/<namespace>_<name>_<uid>`, as log collectors expect it. Underscores are in none of the three. */
export declare function podLogDirectory({ metadata }: Pod, { logs }: Pick<PodletDirectories, 'logs'>): string;
/** Below the pod's directory. */
export declare function containerLogPath(containerName: string, attempt: number): string;
/** The host name that a pod sees: `spec.hostname`, else its name, cut to what a host name may be. */
export declare function podHostname(pod: Pod): string;
/** The domain of a pod with a subdomain; undefined without. */
export declare function podDomain(pod: Pod, clusterDomain: string): string | undefined;
/** What the sandbox is told: nothing for a pod on the host's network, which keeps the host's name. */
export declare function sandboxHostname(pod: Pod, clusterDomain: string): string;
//# sourceMappingURL=sandbox-config.d.ts.map