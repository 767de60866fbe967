import type { Situations } from './situation.js';

/** About Open vSwitch: bridges, ports, rows, flows. */
export const switchSituations = {
  ROW_TAKEN: [
    {
      site: 'packages/backends/ovsdb/src/errors.ts',
      message: '‹there is a port web0 that is not ours›',
    },
  ],
  FLOW_TAKEN: [
    {
      site: 'packages/backends/openflow/src/errors.ts',
      message: '‹there is a flow table=0,priority=100,ip on br0 that is not ours›',
    },
  ],
  UPLINK_NOT_MOVED: [
    {
      site: 'packages/backends/linux/src/uplink/move.ts',
      message:
        'what is on ‹eth1› cannot be moved to ‹br-net1›: ‹put an address of eth1 onto br-net1: EACCES (RTNETLINK answers: permission denied); all was put back›',
    },
    {
      site: 'packages/backends/linux/src/uplink/move.ts',
      message:
        'what is on ‹eth1› cannot be moved to ‹br-net1›: ‹the route to 10.9.0.0/16 has the next-hop object 7›, which other routes may share',
      action:
        'Have the routing daemon add routes without next-hop objects (`ip nexthop`), or take an interface without such routes.',
    },
    {
      site: 'packages/backends/linux/src/uplink/move.ts',
      message:
        'what is on ‹eth1› cannot be moved to ‹br-net1›: ‹250000› routes are more than can be moved at once (‹100000›)',
      action: 'Take an interface with fewer routes.',
    },
  ],
  PORT_REFUSED: [
    {
      site: 'packages/backends/ovsdb/src/errors.ts',
      message: '‹the number of port cali82111e10a96 is 7, not 3›',
    },
  ],
  PORT_NOT_INSTALLED: [
    {
      site: 'packages/backends/ovsdb/src/switch/kinds.ts',
      message: 'ovn-controller has not put in the flows of port ‹4f1c9a8b7d6e_h› (‹iface-id web.default›)',
    },
    {
      site: 'packages/backends/ovsdb/src/switch/kinds.ts',
      message: 'ovn-controller has not put in the flows of port ‹4f1c9a8b7d6e_h› (‹which has no iface-id›)',
      action: null,
    },
  ],
  SWITCH_UNAVAILABLE: [
    {
      site: 'packages/cli/src/flows/failure.ts',
      message: 'bridge ‹br1› has no socket ‹/run/openvswitch/br1.mgmt›; there are ‹br0, br-ex›',
      action:
        'Name the bridge with --bridge. Where there is none at all, start Open vSwitch (ovs-vswitchd), or say with --run-dir where its sockets are.',
    },
    {
      site: 'packages/cli/src/flows/failure.ts',
      message: 'nothing listens on ‹/run/openvswitch/br0.mgmt›',
      action: 'Start Open vSwitch again: ovs-vswitchd has ended and left the file behind.',
    },
    {
      site: 'packages/cli/src/flows/failure.ts',
      message: 'bridge ‹br0› does not speak OpenFlow 1.4',
      action:
        '`ovs-vsctl add Bridge ‹br0› protocols OpenFlow14` allows it beside the versions that the bridge has. Its flows stay as they are.',
    },
    {
      site: 'packages/cli/src/flows/failure.ts',
      message: 'bridge ‹br0› has not answered for ‹10› s',
      action: 'Look whether ovs-vswitchd is stopped or busy (`top`, its log); --timeout allows more seconds.',
    },
    {
      site: 'packages/cli/src/flows/failure.ts',
      message: 'bridge ‹br0› cannot be asked: ‹read ECONNRESET›',
    },
    {
      site: 'packages/cli/src/flows/failure.ts',
      message:
        'ovs-vswitchd cannot be asked: ‹there is no /run/openvswitch/ovs-vswitchd.pid, so ovs-vswitchd does not run›',
      action:
        'Start Open vSwitch (ovs-vswitchd), or say with --run-dir where its files are, or with --target where its control socket is.',
    },
    {
      site: 'packages/cli/src/flows/failure.ts',
      message: 'ovs-vswitchd has not answered for ‹10› s',
      action: 'Look whether ovs-vswitchd is stopped or busy (`top`, its log); --timeout allows more seconds.',
    },
  ],
} as const satisfies Readonly<Record<string, Situations>>;
