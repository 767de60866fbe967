import type { GatewayNode, GatewaySubnet } from '@podwire/network-ovn';

/** Of a node of the testkit's private host, whose uplink is `eth0`. */
export const node: GatewayNode = {
  name: 'node1',
  addresses: ['192.0.2.10', '2001:db8:2::10'],
  join: [
    { cidr: '100.64.0.0/16', gateway: '100.64.0.1' },
    { cidr: 'fd00:100:64::/64', gateway: 'fd00:100:64::1' },
  ],
  services: ['10.96.0.0/12', 'fd00:10:96::/112'],
  localDns: ['169.254.20.10'],
  tunnel: { link: 'eth0', mtu: 1400 },
  uplink: 'eth0',
};

/** 10.NUMBER.0.0/16 and fd00:10:NUMBER::/64. */
export const subnetOf = (
  number: number,
  outgoing?: GatewaySubnet['outgoing'],
  through: GatewaySubnet['through'] = 'distributed',
): GatewaySubnet => ({
  name: `s${number}`,
  cidrs: [`10.${number}.0.0/16`, `fd00:10:${number}::/64`],
  through,
  ...(outgoing === undefined ? {} : { outgoing }),
});

/** The addresses of the fifth pod of {@link subnetOf}. */
export const podOf = (number: number): { readonly subnet: string; readonly addresses: [string, string] } => ({
  subnet: `s${number}`,
  addresses: [`10.${number}.0.5`, `fd00:10:${number}::5`],
});

export const egress = {
  addresses: ['192.0.2.1', '2001:db8:2::1'],
  table: 1021,
  priority: 1021,
} as const;
