/** Resources as rows of Open vSwitch's tables. Pure. */
import { idsOf, valuesOf } from '../rows/columns.js';
import type { WantedRow, WantedRows } from '../rows/description.js';
import type { OvsBridge, OvsInterface, OvsMirror, OvsPort, OvsQos, OvsQueue } from './resources.js';

export function bridgeRows(bridge: OvsBridge): WantedRows {
  const { name, datapathType = '', failMode, protocols = [], otherConfig = {} } = bridge;
  const { stp = false, rstp = false, mcastSnooping = false } = bridge;
  const [port, ...interfaces] = portRows({
    ...{ kind: 'ovs-port', name, bridge: name },
    interfaces: [{ name, type: 'internal' }],
  });
  const columns = valuesOf({
    ...{ datapath_type: datapathType, fail_mode: failMode, protocols, other_config: otherConfig },
    ...{ stp_enable: stp, rstp_enable: rstp, mcast_snooping_enable: mcastSnooping },
  });
  return [{ table: 'Bridge', name, columns, ...idsOf(bridge) }, port, ...interfaces];
}

export function portRows(port: OvsPort): WantedRows {
  const { name, bridge, interfaces, tag, trunks = [], vlanMode, bondMode, lacp, otherConfig = {} } = port;
  const columns = {
    ...valuesOf({ tag, trunks, vlan_mode: vlanMode, bond_mode: bondMode, lacp, other_config: otherConfig }),
    interfaces: { table: 'Interface', toEach: interfaces.map((one) => one.name) },
    qos: { table: 'QoS', to: port.qos },
  };
  const parent = { table: 'Bridge', name: bridge };
  const row = { table: 'Port', name, parent, groups: port.mirrors ?? [], columns, ...idsOf(port) };
  return [row, ...interfaces.map(interfaceRow)];
}

function interfaceRow(given: OvsInterface): WantedRow {
  const { name, type = '', options = {}, mac, mtuRequest, ofportRequest, otherConfig = {} } = given;
  const { ingressPolicingRate = 0, ingressPolicingBurst = 0 } = given;
  const columns = valuesOf({
    ...{ type, options, mac, other_config: otherConfig },
    ...{ mtu_request: mtuRequest, ofport_request: ofportRequest },
    ...{ ingress_policing_rate: ingressPolicingRate, ingress_policing_burst: ingressPolicingBurst },
  });
  return { table: 'Interface', name, columns, ...idsOf(given) };
}

export const qosRows = (qos: OvsQos): WantedRows => {
  const { name, type, queues = {}, otherConfig = {} } = qos;
  const columns = {
    ...valuesOf({ type, other_config: otherConfig }),
    queues: { table: 'Queue', toEachBy: queues },
  };
  return [{ table: 'QoS', name, columns, ...idsOf(qos) }];
};

export const queueRows = (queue: OvsQueue): WantedRows => {
  const { name, dscp, otherConfig = {} } = queue;
  return [{ table: 'Queue', name, columns: valuesOf({ dscp, other_config: otherConfig }), ...idsOf(queue) }];
};

export function mirrorRows(mirror: OvsMirror): WantedRows {
  const { name, bridge, selectAll = false, selectSrcPorts = [] } = mirror;
  const { selectVlans = [], outputPort, outputVlan } = mirror;
  const columns = {
    ...valuesOf({ select_all: selectAll, select_vlan: selectVlans, output_vlan: outputVlan }),
    select_src_port: { table: 'Port', toEach: selectSrcPorts },
    output_port: { table: 'Port', to: outputPort },
  };
  const parent = { table: 'Bridge', name: bridge };
  return [{ table: 'Mirror', name, parent, columns, ...idsOf(mirror) }];
}
