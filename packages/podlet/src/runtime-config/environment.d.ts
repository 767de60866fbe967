import { type Container } from '@podwire/pod-spec';
import { type DownwardFacts } from './downward.js';
export interface EnvironmentFacts extends DownwardFacts {
    /** Data of the ConfigMaps of the pod's namespace, by name. */
    readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
}
/**
 * A container's environment: `envFrom` first, in order, then `env`, which may refer to everything before it. A name that comes
 * again replaces the earlier value, in its place.
 * @throws PodwireError CONTAINER_CONFIG_INVALID for a ConfigMap, key or field that is not there and not optional
 */
export declare function buildEnvironment(container: Container, facts: EnvironmentFacts): Map<string, string>;
/**
 * Replaces `$(NAME)` by the variable's value. `$$` is a literal `$`, so `$$(NAME)` stays `$(NAME)`; a reference to an unknown
 * variable stays as it stands (Kubernetes API, Container.command).
 */
export declare function expandVariables(text: string, lookup: (name: string) => string | undefined): string;
//# sourceMappingURL=environment.d.ts.map