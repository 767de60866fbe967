/** Keys of objects, and ids of states, as the original puts them together. */
import type { EndpointGroup, Network, Rule } from './contract.js';

interface OfTenant {
  readonly tenantName: string;
}

export const networkKey = ({
  tenantName,
  networkName,
}: Pick<Network, 'tenantName' | 'networkName'>): string => `${tenantName}:${networkName}`;

export const groupKey = ({
  tenantName,
  groupName,
}: Pick<EndpointGroup, 'tenantName' | 'groupName'>): string => `${tenantName}:${groupName}`;

export const keyIn = ({ tenantName }: OfTenant, name: string): string => `${tenantName}:${name}`;

export const ruleKey = ({ tenantName, policyName, ruleId }: Rule): string =>
  `${tenantName}:${policyName}:${ruleId}`;

/** Id of a network's state. */
export const networkId = ({ tenantName, networkName }: Pick<Network, 'tenantName' | 'networkName'>): string =>
  `${networkName}.${tenantName}`;

/** Id of a group's state. */
export const groupId = ({ tenantName, groupName }: Pick<EndpointGroup, 'tenantName' | 'groupName'>): string =>
  `${groupName}:${tenantName}`;

export const endpointId = (netId: string, container: string): string => `${netId}-${container}`;

export const reservationKey = (network: string, address: string): string => `${network}/${address}`;
