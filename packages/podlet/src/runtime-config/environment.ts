import { environmentRule } from '@podwire/apimachinery';
import { PodwireError } from '@podwire/errors';
import { type Container, type EnvironmentVariable, podName } from '@podwire/pod-spec';
import { type DownwardFacts, readField } from './downward.js';

export interface EnvironmentFacts extends DownwardFacts {
  /** Data of the ConfigMaps of the pod's namespace, by name. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/**
 * A container's environment: `envFrom` first, in order, then `env`, which may refer to everything before it. A name that comes
 * again replaces the earlier value, in its place.
 * @throws PodwireError CONTAINER_CONFIG_INVALID for a ConfigMap, key or field that is not there and not optional
 */
export function buildEnvironment(container: Container, facts: EnvironmentFacts): Map<string, string> {
  const environment = new Map<string, string>();
  for (const source of container.envFrom) {
    for (const [name, value] of readSource(container, source, facts)) environment.set(name, value);
  }
  for (const variable of container.env) {
    const value = readVariable(container, variable, environment, facts);
    if (value !== undefined) environment.set(variable.name, value);
  }
  return environment;
}

function readSource(
  container: Container,
  { prefix = '', configMapRef, ...others }: Container['envFrom'][number],
  facts: EnvironmentFacts,
): (readonly [string, string])[] {
  if (configMapRef === undefined) {
    requireOptional(container, 'envFrom', others, facts);
    return [];
  }
  const data = facts.configMaps.get(configMapRef.name);
  if (data === undefined && configMapRef.optional !== true) {
    throw invalid(facts, container, `ConfigMap ${configMapRef.name} of envFrom does not exist`);
  }
  return (
    Object.entries(data ?? {})
      .map(([key, value]) => [prefix + key, value] as const)
      // No API lets other keys through; a manifest's ConfigMap may have any.
      .filter(([name]) => environmentRule.pattern.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  );
}

/** @returns undefined when the variable is not to be set */
function readVariable(
  container: Container,
  { name, value, valueFrom }: EnvironmentVariable,
  environment: ReadonlyMap<string, string>,
  facts: EnvironmentFacts,
): string | undefined {
  if (value !== undefined && value !== '') return expandVariables(value, (each) => environment.get(each));
  if (valueFrom?.fieldRef !== undefined) return requireField(container, name, valueFrom.fieldRef, facts);
  if (valueFrom === undefined) return '';
  if (valueFrom.configMapKeyRef !== undefined)
    return readKey(container, name, valueFrom.configMapKeyRef, facts);
  requireOptional(container, `env ${name}`, valueFrom, facts);
  return undefined;
}

/** Pods of the API may take values from where Podwire has none: an empty password must not look like the one that was meant. */
function requireOptional(container: Container, what: string, source: object, facts: EnvironmentFacts): void {
  for (const [kind, reference] of Object.entries(source)) {
    const { optional } = reference as { readonly optional?: unknown };
    if (optional !== true) throw invalid(facts, container, `${what}: Podwire has no values from a ${kind}`);
  }
}

function requireField(
  container: Container,
  name: string,
  { fieldPath }: { readonly fieldPath: string },
  facts: EnvironmentFacts,
): string {
  const value = readField(fieldPath, facts);
  if (value === undefined) throw invalid(facts, container, `env ${name}: there is no field ${fieldPath}`);
  return value;
}

function readKey(
  container: Container,
  name: string,
  reference: NonNullable<NonNullable<EnvironmentVariable['valueFrom']>['configMapKeyRef']>,
  facts: EnvironmentFacts,
): string | undefined {
  const data = facts.configMaps.get(reference.name);
  if (data !== undefined && Object.hasOwn(data, reference.key)) return data[reference.key];
  if (reference.optional === true) return undefined;
  const missing = data === undefined ? 'does not exist' : `has no key ${reference.key}`;
  const action = 'Add it to a manifest; the container starts by itself then.';
  throw invalid(facts, container, `env ${name}: ConfigMap ${reference.name} ${missing}`, action);
}

function invalid(
  { pod }: EnvironmentFacts,
  container: Container,
  why: string,
  action: string | null = null,
): PodwireError {
  return new PodwireError(
    'CONTAINER_CONFIG_INVALID',
    `pod ${podName(pod)}, container ${container.name}: ${why}`,
    { details: { pod: podName(pod), container: container.name }, action },
  );
}

/**
 * Replaces `$(NAME)` by the variable's value. `$$` is a literal `$`, so `$$(NAME)` stays `$(NAME)`; a reference to an unknown
 * variable stays as it stands (Kubernetes API, Container.command).
 */
export function expandVariables(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference, name: string | undefined) => {
    if (name === undefined) return '$';
    return lookup(name) ?? reference;
  });
}
