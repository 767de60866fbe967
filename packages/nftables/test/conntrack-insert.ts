import { addressToBytes, parseAddress } from '@podwire/addresses';
import {
  type NetlinkConnection,
  type NetlinkRequest,
  NLM_F_CREATE,
  NLM_F_EXCL,
  PayloadWriter,
} from '@podwire/netlink';
import type { ConntrackTuple } from '@podwire/nftables';
import { type Connection, entry } from './conntrack-compliance.js';

const IPCTNL_MSG_CT_NEW = 1 << 8;
const numbers = { tcp: 6, udp: 17, sctp: 132 } as const;

/** Puts entries into a connection tracking table without any packet (ctnetlink). */
export function insertConnections(netlink: NetlinkConnection, connections: readonly Connection[]): void {
  for (let at = 0; at < connections.length; at += 500) {
    netlink.request(connections.slice(at, at + 500).map(insertRequest));
  }
}

function insertRequest(connection: Connection): NetlinkRequest {
  const { family, original, reply } = entry(connection);
  const writer = new PayloadWriter(4);
  writer.at(0, 4).set([family === 4 ? 2 : 10, 0]);
  const protocol = numbers[connection.protocol];
  writer.nest(1, () => writeTuple(writer, original, protocol, family));
  writer.nest(2, () => writeTuple(writer, reply, protocol, family));
  writer.be32(7, 600);
  if (connection.protocol === 'tcp') writer.nest(4, () => writer.nest(1, () => writer.u8(1, 3)));
  return { type: IPCTNL_MSG_CT_NEW, flags: NLM_F_CREATE | NLM_F_EXCL, payload: writer.finish() };
}

function writeTuple(writer: PayloadWriter, tuple: ConntrackTuple, protocol: number, family: 4 | 6): void {
  const first = family === 4 ? 1 : 3;
  writer.nest(1, () => {
    writer.bytes(first, addressToBytes(parseAddress(tuple.source)));
    writer.bytes(first + 1, addressToBytes(parseAddress(tuple.destination)));
  });
  writer.nest(2, () => {
    writer.u8(1, protocol);
    writer.be16(2, tuple.sourcePort!);
    writer.be16(3, tuple.destinationPort!);
  });
}
