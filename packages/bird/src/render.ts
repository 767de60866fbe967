/** The daemon's configuration, as text. Pure: the same view gives the same text, so a comparison shows whether to reload. */
import { type Family, parseAddress, parsePrefix, formatPrefix, formatAddress } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import type { BgpNeighbour, BgpView } from './contract.js';

/**
 * Everything that is put into the text is an address, a number or a quoted word without quotes: the configuration language has no
 * way to escape.
 * @throws PodwireError CONFIG_INVALID naming the field
 */
export function renderBirdConfig(view: BgpView): string {
  checkView(view);
  const families = ([4, 6] as const).filter((family) => addressOf(view, family) !== undefined);
  return [
    '# Written by Podwire for BIRD 2; changes are lost. See docs/bgp.md.',
    `router id ${view.routerId};`,
    // A daemon that is started again (-R) waits for its neighbours before it takes routes out of the kernel.
    'graceful restart wait 60;',
    'protocol device { scan time 10; }',
    ...families.map((family) => renderFamily(view, family)),
    ...view.neighbours.map((neighbour) => renderNeighbour(view, neighbour)),
    '',
  ].join('\n');
}

const channel = { 4: 'ipv4', 6: 'ipv6' } as const;
/** Of the daemon's routes. Behind Podwire's own to blocks and borrowed addresses: 0 and 16; for IPv6 1024 and 2048. */
const kernelMetric = { 4: 32, 6: 3072 } as const;
const addressOf = (view: BgpView, family: Family): string | undefined =>
  family === 4 ? view.ipv4 : view.ipv6;

const ofFamily = (prefixes: readonly string[], family: Family): string[] =>
  prefixes
    .map((text) => parsePrefix(text))
    .filter((prefix) => prefix.family === family)
    .map(formatPrefix)
    .sort();

/**
 * Announcements stand in a static protocol; the kernel never gets it from there, since the engine keeps the blackholes
 * of own blocks. From the kernel nothing is read. Routes of routers go into the kernel with the daemon's own route
 * protocol and metric, so only the daemon owns them, and a route of Podwire's to the same block wins.
 */
function renderFamily(view: BgpView, family: Family): string {
  const name = channel[family];
  const announced = ofFamily(view.announced, family);
  return `
protocol static podwire_blocks_${name} {
	${name};
${announced.map((block) => `\troute ${block} blackhole;\n`).join('')}}
filter podwire_announce_${name} {
	if proto = "podwire_blocks_${name}" then accept;
	reject;
}
filter podwire_accept_${name} {
${renderAcceptance(ofFamily(view.pools, family), announced)}}
protocol kernel podwire_kernel_${name} {
	persist;
	scan time 20;
	metric ${kernelMetric[family]};
	${name} {
		import none;
		export where source = RTS_BGP;
	};
}`;
}

/** Refuses routes to this node's own blocks and to anything outside the pools (such as a default route). */
function renderAcceptance(pools: readonly string[], own: readonly string[]): string {
  const inside = (prefixes: readonly string[]): string => prefixes.map((prefix) => `${prefix}+`).join(', ');
  const refuse = own.length === 0 ? '' : `\tif net ~ [ ${inside(own)} ] then reject;\n`;
  const take = pools.length === 0 ? '' : `\tif net ~ [ ${inside(pools)} ] then accept;\n`;
  return `${refuse}${take}\treject;\n`;
}

function renderNeighbour(view: BgpView, neighbour: BgpNeighbour): string {
  const { address, asn, multihop, password, reflectorClient } = neighbour;
  const family = parseAddress(address).family;
  const own = addressOf(view, family);
  const lines = [
    `local ${own === undefined ? '' : `${own} `}as ${view.asn};`,
    `neighbor ${address} as ${asn};`,
    multihop === true ? 'multihop;' : 'direct;',
    ...(password === undefined ? [] : [`password "${password}";`]),
    ...(reflectorClient === true ? ['rr client;'] : []),
    'graceful restart on;',
    `${channel[family]} {\n\t\timport filter podwire_accept_${channel[family]};\n\t\texport filter podwire_announce_${channel[family]};\n\t\tnext hop self;\n\t};`,
  ];
  return `\nprotocol bgp ${sessionName(address)} {\n${lines.map((line) => `\t${line}\n`).join('')}}`;
}

/** Protocols are called by letters, digits and underscores. */
export const sessionName = (address: string): string =>
  `podwire_${formatAddress(parseAddress(address)).replaceAll('.', '_').replaceAll(':', 'x')}`;

function checkView(view: BgpView): void {
  const problems = [
    ...checkAddress('routerId', view.routerId, 4),
    ...(view.ipv4 === undefined ? [] : checkAddress('ipv4', view.ipv4, 4)),
    ...(view.ipv6 === undefined ? [] : checkAddress('ipv6', view.ipv6, 6)),
    ...checkNumber('asn', view.asn),
    ...view.neighbours.flatMap((neighbour, at) => checkNeighbour(view, neighbour, `neighbours[${at}]`)),
  ];
  if (problems.length > 0) {
    throw new PodwireError('CONFIG_INVALID', `bgp: ${problems.join('; ')}`, { details: { problems } });
  }
}

function checkNeighbour(view: BgpView, { address, asn, password }: BgpNeighbour, where: string): string[] {
  const wrong = checkAddress(`${where}.address`, address);
  const family = wrong.length === 0 ? parseAddress(address).family : undefined;
  const unspoken = family !== undefined && addressOf(view, family) === undefined;
  const unsaid = password !== undefined && !/^[\x20-\x7e]{1,80}$/.test(password.replaceAll('"', '\n'));
  return [
    ...wrong,
    ...checkNumber(`${where}.asn`, asn),
    ...(unspoken ? [`${where}.address: the node has no IPv${family} address to speak from`] : []),
    ...(unsaid ? [`${where}.password: 1 to 80 printable characters, no double quote`] : []),
  ];
}

function checkAddress(where: string, text: string, family?: Family): string[] {
  try {
    const parsed = parseAddress(text);
    return family === undefined || parsed.family === family
      ? []
      : [`${where}: ${text} is no IPv${family} address`];
  } catch (error) {
    return [`${where}: ${(error as Error).message}`];
  }
}

const checkNumber = (where: string, asn: number): string[] =>
  Number.isInteger(asn) && asn >= 1 && asn <= 0xffff_ffff ? [] : [`${where}: ${asn} is no autonomous system`];
