// Lists the links of a network namespace with their addresses, as `ip -brief address` does.
//
//   node list-links.mjs [/run/netns/NAME]
import fs from 'node:fs';
import { listAddresses, listLinks, openRouteConnection } from '@podwire/netlink';

const [file] = process.argv.slice(2);
const connection = openRouteConnection(file ? { namespace: { fd: fs.openSync(file, 'r') } } : {});
const addresses = listAddresses(connection);
for (const { index, name, kind = 'device', up, mtu } of listLinks(connection)) {
  const own = addresses.filter(({ link }) => link === index).map(({ address }) => address);
  console.log(`${name} (${kind}) ${up ? 'up' : 'down'}, mtu ${mtu}: ${own.join(', ') || 'no address'}`);
}
connection.close();
