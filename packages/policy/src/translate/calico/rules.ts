/** Calico's rules. */
import { type CalicoRule, protocolNumbers, readPorts, readProtocol } from '@podwire/objects';
import type { Action, Direction, PortRange, Rule, Service } from '../../model/policy.js';
import { groupPorts, type PortEntry } from '../services.js';
import { Untranslatable } from '../untranslatable.js';
import { toConditions } from './peers.js';

const actions: Readonly<Record<CalicoRule['action'], Action>> = {
  Allow: 'allow',
  Deny: 'deny',
  Pass: 'pass',
  Log: 'log',
};

export const toRules = (
  rules: readonly CalicoRule[] = [],
  direction: Direction,
  namespace: string | undefined,
): Rule[] => rules.map((rule, index) => toRule(rule, `spec.${direction}[${index}]`, namespace));

function toRule(rule: CalicoRule, path: string, namespace: string | undefined): Rule {
  const { source = {}, destination = {} } = rule;
  const family = rule.ipVersion ?? familyOf(rule, path);
  const services = toServices(rule, path);
  const notServices = toNotServices(rule, path);
  return {
    action: actions[rule.action],
    ...(family !== undefined && { family }),
    ...(services.length > 0 && { services }),
    ...(notServices.length > 0 && { notServices }),
    ...rangesOf('sourcePorts', source.ports, `${path}.source.ports`),
    ...rangesOf('notSourcePorts', source.notPorts, `${path}.source.notPorts`),
    ...(rule.icmp !== undefined && { icmp: rule.icmp }),
    ...(rule.notICMP !== undefined && { notIcmp: rule.notICMP }),
    source: toConditions(source, { side: 'source', namespace, path: `${path}.source` }),
    destination: toConditions(destination, { side: 'destination', namespace, path: `${path}.destination` }),
    path,
  };
}

/** Both forms of ICMP belong to a family. */
function familyOf({ protocol }: CalicoRule, path: string): 4 | 6 | undefined {
  const number = protocol === undefined ? undefined : toNumber(protocol, `${path}.protocol`);
  if (number === protocolNumbers.ICMP) return 4;
  return number === protocolNumbers.ICMPv6 ? 6 : undefined;
}

function toNumber(protocol: string | number, field: string): number {
  const number = readProtocol(protocol);
  if (number === undefined) throw new Untranslatable(field, `${JSON.stringify(protocol)} is no protocol`);
  return number;
}

const named = new Map<number, Service['protocol']>([
  [protocolNumbers.TCP, 'tcp'],
  [protocolNumbers.UDP, 'udp'],
  [protocolNumbers.SCTP, 'sctp'],
]);

function toProtocol(protocol: string | number | undefined, field: string): Service['protocol'] {
  if (protocol === undefined) return undefined;
  const number = toNumber(protocol, field);
  return named.get(number) ?? number;
}

function toServices({ protocol, destination = {} }: CalicoRule, path: string): Service[] {
  if (protocol === undefined) return [];
  const known = toProtocol(protocol, `${path}.protocol`);
  const ports = destination.ports ?? [];
  return ports.length === 0
    ? [{ protocol: known }]
    : groupPorts(toEntries(ports, known, `${path}.destination.ports`));
}

function toNotServices({ protocol, notProtocol, destination = {} }: CalicoRule, path: string): Service[] {
  const known = toProtocol(protocol, `${path}.protocol`);
  const other = toProtocol(notProtocol, `${path}.notProtocol`);
  return [
    ...(other === undefined ? [] : [{ protocol: other }]),
    ...groupPorts(toEntries(destination.notPorts ?? [], known, `${path}.destination.notPorts`)),
  ];
}

const toEntries = (
  ports: readonly (string | number)[],
  protocol: Service['protocol'],
  field: string,
): PortEntry[] =>
  ports.map((port, index) => {
    const range = readPorts(port);
    if (range !== undefined) return { protocol, range };
    if (typeof port === 'string') return { protocol, name: port };
    throw new Untranslatable(`${field}[${index}]`, `${port} is no port`);
  });

function rangesOf(
  key: 'sourcePorts' | 'notSourcePorts',
  ports: readonly (string | number)[] = [],
  field: string,
): { readonly [K in typeof key]?: readonly PortRange[] } {
  if (ports.length === 0) return {};
  const ranges = ports.map((port, index) => {
    const range = readPorts(port);
    if (range === undefined) throw new Untranslatable(`${field}[${index}]`, 'names no number');
    return range;
  });
  return { [key]: ranges };
}
