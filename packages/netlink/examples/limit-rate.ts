// Limits what a link sends, and with an ifb device what it receives.
//
//   node limit-rate.js LINK BITS-PER-SECOND
import {
  addFilterRequest,
  createLink,
  openRouteConnection,
  readLink,
  readQdisc,
  replaceQdiscRequest,
} from '@podwire/netlink';

const [name = 'eth0', rateText = '10000000'] = process.argv.slice(2);
const rate = Number(rateText);
// 10 ms at the rate may pass at once, and as much again may wait.
const burst = Math.max(5000, Math.round(rate / 800));
const bucket = { kind: 'tbf', rate, burst, limit: 2 * burst } as const;

const connection = openRouteConnection();
const link = readLink(connection, name)?.index;
if (link === undefined) throw new Error(`there is no link ${name}`);
const ifb = createLink(connection, { kind: 'ifb', name: `in-${name}`, up: true }).index;

connection.request([
  replaceQdiscRequest({ link, ...bucket }),
  replaceQdiscRequest({ link: ifb, ...bucket }),
  // Whatever arrives is sent through the ifb device first.
  replaceQdiscRequest({ link, kind: 'ingress' }),
  addFilterRequest({ link, priority: 1, action: { kind: 'mirred', target: ifb, direction: 'egress' } }),
]);

console.log(name, readQdisc(connection, { link })?.settings);
