// Lists the links of a network namespace with their addresses, as `ip -brief address` does.
//
//   node list-links.js [/run/netns/NAME]
import fs from 'node:fs';
import { listAddresses, listLinks, openRouteConnection } from '@podwire/netlink';

const [file] = process.argv.slice(2);
const namespace = file === undefined ? undefined : { fd: fs.openSync(file, 'r') };
const connection = openRouteConnection({ namespace });
const addresses = listAddresses(connection);
for (const { index, name, kind = 'device', up, mtu } of listLinks(connection)) {
  const own = addresses.filter(({ link }) => link === index).map(({ address }) => address);
  console.log(`${name} (${kind}) ${up ? 'up' : 'down'}, mtu ${mtu}: ${own.join(', ') || 'no address'}`);
}
connection.close();
