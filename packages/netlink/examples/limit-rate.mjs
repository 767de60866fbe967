// Limits what a link sends, and with an ifb device what it receives.
//
//   node limit-rate.mjs LINK BITS-PER-SECOND
import {
  addFilterRequest,
  createLinkRequest,
  decodeLink,
  decodeQdisc,
  getLinkRequest,
  getQdiscRequest,
  openRouteConnection,
  replaceQdiscRequest,
} from '@podwire/netlink';

const [name, rateText] = process.argv.slice(2);
const rate = Number(rateText);
// 10 ms at the rate may pass at once, and as much again may wait.
const burst = Math.max(5000, Math.round(rate / 800));
const bucket = { kind: 'tbf', rate, burst, limit: 2 * burst };

const connection = openRouteConnection();
const indexOf = (link) => decodeLink(connection.request([getLinkRequest(link)])[0][0]).index;
connection.request([createLinkRequest({ kind: 'ifb', name: `in-${name}`, up: true })]);
const [link, ifb] = [indexOf(name), indexOf(`in-${name}`)];

connection.request([
  replaceQdiscRequest({ link, ...bucket }),
  replaceQdiscRequest({ link: ifb, ...bucket }),
  // Whatever arrives is sent through the ifb device first.
  replaceQdiscRequest({ link, kind: 'ingress' }),
  addFilterRequest({ link, priority: 1, action: { kind: 'mirred', target: ifb, direction: 'egress' } }),
]);

const [[reply]] = connection.request([getQdiscRequest({ link })]);
console.log(name, decodeQdisc(reply).settings);
