import type { LogicalSwitchPort } from '@podwire/backend-ovsdb/northbound/resources';
import type { Resource } from '@podwire/engine';
import type { Planned, Read } from '@podwire/planner';
import type { OvnSubnet, Underlay } from '../contract.js';
import { planEgress } from './egress.js';
import { localnetName, routerSideName, switchSideName } from './names.js';
import { planPrivate } from './private.js';
import { routerMac, vendor } from './rows.js';

/**
 * The switch of a subnet, its way to the router or to the network outside, and who its pods leave the cluster through. Its number of rows
 * grows with the nodes and not with the pods.
 * @throws PodwireError where the subnet contradicts something: its rows stay as they are
 */
export function planSubnet(name: string, read: Read): Planned<Resource> | undefined {
  const subnet = read(`ovn-subnet/${name}`);
  if (subnet === undefined) return undefined;
  if (subnet.fault !== undefined) throw subnet.fault;
  const own: Resource[] = [
    { kind: 'logical-switch', name, externalIds: vendor },
    ...planPrivate(name, subnet, read),
  ];
  if (subnet.underlay !== undefined) return { resources: [...own, planLocalnet(name, subnet.underlay)] };
  const vpc = read(`ovn-vpc/${subnet.vpc}`);
  // Its pods reach each other until there is a router.
  if (vpc === undefined) return { resources: own };
  const link = planRouterLink(name, subnet);
  const { resources = [], collections = [] } = vpc.isDefault ? planEgress(name, subnet, read) : {};
  return { resources: [...own, ...link, ...resources], collections };
}

function planRouterLink(name: string, { vpc: router, ranges }: OvnSubnet): Resource[] {
  const [switchSide, routerSide] = [switchSideName(name, router), routerSideName(name, router)];
  return [
    {
      ...{ kind: 'logical-router-port', name: routerSide, router, mac: routerMac(routerSide) },
      networks: ranges.map(({ cidr, gateway }) => `${gateway}${cidr.slice(cidr.indexOf('/'))}`),
      externalIds: vendor,
    },
    {
      ...{ kind: 'logical-switch-port', name: switchSide, switch: name, type: 'router' },
      ...{ addresses: ['router'], options: { 'router-port': routerSide }, externalIds: vendor },
    },
  ];
}

/** The tag is on this port alone; Kube-OVN before 1.8 tagged the pods' ports. */
const planLocalnet = (name: string, { provider, vlan }: Underlay): LogicalSwitchPort => ({
  ...{ kind: 'logical-switch-port', name: localnetName(name), switch: name, type: 'localnet' },
  ...{ addresses: ['unknown'], options: { network_name: provider }, externalIds: vendor },
  ...(vlan === 0 ? {} : { tag: vlan }),
});
