import { PodwireError } from '@podwire/errors';
import { podName } from '@podwire/pod-spec';
import { readField } from './downward.js';
/**
 * A container's environment: `envFrom` first, in order, then `env`, which may refer to everything before it. A name that comes
 * again replaces the earlier value, in its place.
 * @throws PodwireError CONTAINER_CONFIG_INVALID for a ConfigMap, key or field that is not there and not optional
 */
export function buildEnvironment(container, facts) {
    const environment = new Map();
    for (const source of container.envFrom) {
        for (const [name, value] of readSource(container, source, facts))
            environment.set(name, value);
    }
    for (const variable of container.env) {
        const value = readVariable(container, variable, environment, facts);
        if (value !== undefined)
            environment.set(variable.name, value);
    }
    return environment;
}
function readSource(container, { prefix = '', configMapRef, ...others }, facts) {
    if (configMapRef === undefined) {
        requireOptional(container, 'envFrom', others, facts);
        return [];
    }
    const data = facts.configMaps.get(configMapRef.name);
    if (data === undefined && configMapRef.optional !== true) {
        throw invalid(facts, container, `ConfigMap ${configMapRef.name} of envFrom does not exist`);
    }
    return Object.entries(data ?? {})
        .map(([key, value]) => [prefix + key, value])
        .filter(([name]) => isVariableName(name))
        .sort(([a], [b]) => (a < b ? -1 : 1));
}
/** Keys of ConfigMaps that are no names of variables are passed over, as the API says of envFrom. */
function isVariableName(name) {
    return /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name);
}
/** @returns undefined when the variable is not to be set */
function readVariable(container, { name, value, valueFrom }, environment, facts) {
    if (value !== undefined && value !== '')
        return expandVariables(value, (each) => environment.get(each));
    if (valueFrom?.fieldRef !== undefined)
        return requireField(container, name, valueFrom.fieldRef, facts);
    if (valueFrom === undefined)
        return '';
    if (valueFrom.configMapKeyRef !== undefined)
        return readKey(container, name, valueFrom.configMapKeyRef, facts);
    requireOptional(container, `env ${name}`, valueFrom, facts);
    return undefined;
}
/** Pods of the API may take values from where Podwire has none: an empty password must not look like the one that was meant. */
function requireOptional(container, what, source, facts) {
    for (const [kind, reference] of Object.entries(source)) {
        const { optional } = reference;
        if (optional !== true)
            throw invalid(facts, container, `${what}: Podwire has no values from a ${kind}`);
    }
}
function requireField(container, name, { fieldPath }, facts) {
    const value = readField(fieldPath, facts);
    if (value === undefined)
        throw invalid(facts, container, `env ${name}: there is no field ${fieldPath}`);
    return value;
}
function readKey(container, name, reference, facts) {
    const data = facts.configMaps.get(reference.name);
    if (data !== undefined && Object.hasOwn(data, reference.key))
        return data[reference.key];
    if (reference.optional === true)
        return undefined;
    const missing = data === undefined ? 'does not exist' : `has no key ${reference.key}`;
    throw invalid(facts, container, `env ${name}: ConfigMap ${reference.name} ${missing}`);
}
function invalid({ pod }, container, why) {
    return new PodwireError('CONTAINER_CONFIG_INVALID', `pod ${podName(pod)}, container ${container.name}: ${why}`, { details: { pod: podName(pod), container: container.name } });
}
/**
 * Replaces `$(NAME)` by the variable's value. `$$` is a literal `$`, so `$$(NAME)` stays `$(NAME)`; a reference to an unknown
 * variable stays as it stands (Kubernetes API, Container.command).
 */
export function expandVariables(text, lookup) {
    return text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference, name) => {
        if (name === undefined)
            return '$';
        return lookup(name) ?? reference;
    });
}
//# sourceMappingURL=environment.js.map