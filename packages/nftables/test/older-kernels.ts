import { Attributes, NetlinkBatchError, type NetlinkConnection, type NetlinkRequest } from '@podwire/netlink';

const NFT_MSG_DESTROYSETELEM = (10 << 8) | 30;
const IPCTNL_MSG_CT_DELETE = (1 << 8) | 2;
const CTA_FILTER = 25;
const NFGENMSG = 4;
const EINVAL = 22;

/** nf_tables before Linux 6.3: refuses a transaction that holds a message it does not know. */
export function withoutDestroy(connection: NetlinkConnection): NetlinkConnection {
  return refusing(connection, ({ type }) => type === NFT_MSG_DESTROYSETELEM);
}

/** ctnetlink before Linux 6.11: takes a filtered deletion for that of one incomplete entry. */
export function withoutFilteredDelete(connection: NetlinkConnection): NetlinkConnection {
  return refusing(
    connection,
    ({ type, payload }) =>
      type === IPCTNL_MSG_CT_DELETE && new Attributes(Buffer.from(payload), NFGENMSG).has(CTA_FILTER),
  );
}

function refusing(
  connection: NetlinkConnection,
  unknown: (request: NetlinkRequest) => boolean,
): NetlinkConnection {
  const check = (requests: readonly NetlinkRequest[]): void => {
    const failures = requests.flatMap((request, index) =>
      unknown(request) ? [{ index, label: `request ${index}`, code: 'EINVAL', errno: EINVAL }] : [],
    );
    if (failures.length > 0) throw new NetlinkBatchError(failures);
  };
  return {
    request: (requests) => {
      check(requests);
      return connection.request(requests);
    },
    requestAsync: async (requests, signal) => {
      check(requests);
      return await connection.requestAsync(requests, signal);
    },
    dump: (request) => connection.dump(request),
    portId: () => connection.portId(),
    close: () => connection.close(),
  };
}
