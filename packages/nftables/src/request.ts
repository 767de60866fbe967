import { type NetlinkRequest, PayloadWriter } from '@podwire/netlink';
import {
  families,
  type Family,
  NFGENMSG,
  NFNL_MSG_BATCH_BEGIN,
  NFNL_MSG_BATCH_END,
  tableAttribute,
} from './protocol.js';

const NFNL_SUBSYS_NFTABLES = 10;

/** A writer that stands behind a struct nfgenmsg. `resource` is big-endian, 0 except for batches. */
export function startPayload(family: number, resource = 0): PayloadWriter {
  const writer = new PayloadWriter(NFGENMSG);
  const header = writer.at(0, NFGENMSG);
  header.writeUInt8(family, 0);
  header.writeUInt16BE(resource, 2);
  return writer;
}

/** Frames the messages of one transaction: the kernel carries out all of them or none (nfnetlink_rcv_batch). */
export function inTransaction(requests: readonly NetlinkRequest[]): NetlinkRequest[] {
  return [frame(NFNL_MSG_BATCH_BEGIN), ...requests, frame(NFNL_MSG_BATCH_END)];
}

function frame(type: number): NetlinkRequest {
  const payload = startPayload(0, NFNL_SUBSYS_NFTABLES).finish();
  return { type, flags: 0, payload, unacknowledged: true };
}

/** Any request whose only argument is a family, or a family and a table's name. */
export function plainRequest(type: number, family: Family | undefined, table?: string): NetlinkRequest {
  const writer = startPayload(family === undefined ? 0 : families[family]);
  // NFTA_*_TABLE is 1 in all messages, as is NFTA_TABLE_NAME.
  if (table !== undefined) writer.text(tableAttribute.name, table);
  return { type, flags: 0, payload: writer.finish() };
}
