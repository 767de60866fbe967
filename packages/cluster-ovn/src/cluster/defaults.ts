/** Objects that each cluster has: the VPC of the nodes, their subnet, and one for pods. */
import { type AnyObject, checkObject, defaultVpc } from '@podwire/objects';
import { JOIN_SUBNET } from '../topology/names.js';
import type { OvnDefaults, OvnObjects } from './contract.js';

const apiVersion = 'kubeovn.io/v1';

/** As Kube-OVN makes them. @throws RangeError for CIDRs that a Subnet cannot have */
export const listDefaults = ({ joinCidr, defaultCidr }: OvnDefaults): AnyObject[] => [
  readDefault('Vpc', defaultVpc, {}),
  readDefault('Subnet', JOIN_SUBNET, { cidrBlock: joinCidr, disableInterConnection: true }),
  readDefault('Subnet', 'ovn-default', { cidrBlock: defaultCidr, default: true, natOutgoing: true }),
];

function readDefault(kind: string, name: string, spec: Readonly<Record<string, unknown>>): AnyObject {
  const checked = checkObject({ apiVersion, kind, metadata: { name }, spec });
  if (checked.ok) return checked.object;
  throw new RangeError(checked.problems.map(({ message }) => `${kind} ${name}: ${message}`).join('; '));
}

/** Those that are not there. One that cannot be read is there, and a default subnet of another name will do. */
export function listMissing(
  defaults: readonly AnyObject[],
  { subnets, vpcs, unreadable }: OvnObjects,
): AnyObject[] {
  const there = new Set(
    [
      ...[...subnets, ...vpcs].map(({ object }) => ({ kind: object.kind, name: object.metadata.name })),
      ...unreadable.map(({ reference }) => reference),
    ].map(({ kind, name }) => `${kind} ${name}`),
  );
  const hasDefault = subnets.some(({ object }) => object.spec.default);
  return defaults.filter(({ kind, metadata: { name }, ...rest }) => {
    const { spec } = rest as { readonly spec?: { readonly default?: boolean } };
    return !there.has(`${kind} ${name}`) && !(spec?.default === true && hasDefault);
  });
}
