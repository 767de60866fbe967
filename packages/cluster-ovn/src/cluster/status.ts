/** The status of Subnets, Vpcs, Vlans and ProviderNetworks, as writes of those objects whose status is another one. Pure. */
import {
  defaultVpc,
  isEqual,
  type ProviderNetwork,
  type StoredObject,
  type Subnet,
  type Vlan,
  type Vpc,
} from '@podwire/objects';
import { updateConditions } from './conditions.js';
import type { OvnObjects, OvnWrite } from './contract.js';
import { countAddresses, groupAddresses } from './count-addresses.js';
import { type NodeStates, providerStatus } from './provider-status.js';
import { listNames } from './status-names.js';
import type { CheckedSubnet } from './subnets.js';

type Status<T extends { readonly status?: unknown }> = NonNullable<T['status']>;

/**
 * Of the look alone: what is changed beside it is in the status that the next plan writes.
 * @param now milliseconds since 1970, for conditions that change
 */
export function planStatuses(
  { subnets, vpcs, vlans, ips }: Pick<OvnObjects, 'subnets' | 'vpcs' | 'vlans' | 'ips'>,
  checked: readonly CheckedSubnet[],
  now: number,
): OvnWrite[] {
  const specs = subnets.map(({ object }) => object);
  const faults = new Map(checked.map(({ subnet, fault }) => [subnet.metadata.name, fault]));
  const addresses = groupAddresses(ips.map(({ object }) => object));
  return [
    ...vpcs.flatMap((vpc) => writeStatus(vpc, vpcStatus(vpc.object, specs))),
    ...vlans.flatMap((vlan) => writeStatus(vlan, vlanStatus(vlan.object, specs))),
    ...subnets.flatMap((stored) => {
      const { name } = stored.object.metadata;
      const counts = countAddresses(stored.object, addresses.get(name) ?? []);
      const conditions = updateConditions(stored.object, faults.get(name), now);
      return writeStatus(stored, { activateGateway: '', ...stored.object.status, ...counts, conditions });
    }),
  ];
}

/**
 * Also of the look alone.
 * @param nodes all there are
 * @param now milliseconds since 1970, for conditions that change
 */
export function planProviderStatuses(
  { providerNetworks, vlans: stored }: Pick<OvnObjects, 'providerNetworks' | 'vlans'>,
  nodes: readonly NodeStates[],
  now: number,
): OvnWrite[] {
  const vlans = stored.map(({ object }) => object);
  return providerNetworks.flatMap((network) =>
    writeStatus(network, providerStatus(network.object, { nodes, vlans }, now)),
  );
}

function writeStatus<T extends Subnet | Vpc | Vlan | ProviderNetwork>(
  before: StoredObject<T>,
  status: Status<T>,
): OvnWrite[] {
  const { object } = before;
  if (isEqual(object.status, status)) return [];
  return [{ before, after: Object.assign({}, object, { status }), reason: 'its status has changed' }];
}

const namesOf = (subnets: readonly Subnet[]): string[] => listNames(subnets.map(({ metadata }) => metadata));

/** Names of load balancers, which nothing makes yet. */
const noLoadBalancers = {
  ...{ tcpLoadBalancer: '', tcpSessionLoadBalancer: '' },
  ...{ udpLoadBalancer: '', udpSessionLoadBalancer: '' },
};

function vpcStatus({ metadata: { name }, status }: Vpc, subnets: readonly Subnet[]): Status<Vpc> {
  const own = subnets.filter(({ spec: { vpc } }) => vpc === name);
  return {
    ...{ ...noLoadBalancers, conditions: [], ...status },
    ...{ standby: true, default: name === defaultVpc, router: name, subnets: namesOf(own) },
    defaultLogicalSwitch: own.find(({ spec }) => spec.default)?.metadata.name ?? '',
  };
}

const vlanStatus = ({ metadata: { name } }: Vlan, subnets: readonly Subnet[]): Status<Vlan> => ({
  subnets: namesOf(subnets.filter(({ spec: { vlan } }) => vlan === name)),
});
