// The same code against a kernel in memory: for tests without root, and of what happens when the kernel refuses.
import {
  addAddressRequest,
  createLinkRequest,
  listAddresses,
  NetlinkBatchError,
  type NetlinkConnection,
} from '@podwire/netlink';
import { FakeKernel } from '@podwire/netlink/fake';

function addBridge(connection: NetlinkConnection): void {
  connection.request([
    createLinkRequest({ kind: 'bridge', name: 'br0', index: 10, up: true }),
    addAddressRequest({ link: 10, address: '10.0.0.1/24' }),
  ]);
}

const kernel = new FakeKernel();
const connection = kernel.open();
addBridge(connection);
console.log(listAddresses(connection, { link: 10, family: 4 }).map(({ address }) => address));

kernel.failRequest(2, { code: 'ENOMEM' });
try {
  addBridge(connection);
} catch (error) {
  if (!(error instanceof NetlinkBatchError)) throw error;
  for (const { index, label, code } of error.failures) console.log(`request ${index}, ${label}: ${code}`);
}
