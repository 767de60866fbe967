/** `ct(…)` and `nat(…)` of ovs-actions(7). */
import type { Action, Conntrack, Nat } from '../actions.js';
import { formatSubfield, parseSubfield } from './names.js';
import { parseCount, quote, splitKey, splitOutside } from './split.js';

type ParseActions = (text: string) => Action[];
type FormatActions = (actions: readonly Action[]) => string;

const PORTS = /:(\d+)(?:-(\d+))?$/;

/** `10.0.0.1-10.0.0.9:80-90`, `[2001:db8::1]-[2001:db8::9]:80`, `2001:db8::1`: only behind brackets IPv6 has ports. */
function parseRange(text: string): Pick<Nat, 'addresses' | 'ports'> {
  const isBareIpv6 = !text.startsWith('[') && text.split(':').length > 2;
  const ports = isBareIpv6 ? null : PORTS.exec(text);
  const addresses = text.slice(0, ports?.index).replace(/[[\]]/g, '');
  const [, first, last = first] = ports ?? [];
  return {
    ...(addresses === '' ? {} : { addresses }),
    ...(first === undefined ? {} : { ports: [parseCount(first, 0xffff), parseCount(last, 0xffff)] }),
  };
}

function parseNatTerm(term: string): Nat {
  const [key, value] = splitKey(term, '=');
  switch (key) {
    case 'src':
    case 'dst':
      return { direction: key, ...(value === undefined ? {} : parseRange(value)) };
    case 'persistent':
      return { persistent: true };
    case 'hash':
    case 'random':
      return { choice: key };
    default:
      throw new RangeError(`nat: there is no ${quote(key)}`);
  }
}

const parseNat = (text = ''): Nat => Object.assign({}, ...splitOutside(text, ',').map(parseNatTerm)) as Nat;

function parseZone(text: string): Pick<Conntrack, 'zone'> {
  if (!/^\d|^0x/.test(text)) return { zone: parseSubfield(text) };
  const zone = parseCount(text, 0xffff);
  return zone === 0 ? {} : { zone };
}

function parseTerm(term: string, parseActions: ParseActions): Partial<Conntrack> {
  const [key, value = ''] = splitKey(term, '=');
  switch (key) {
    case 'commit':
      return { commit: true };
    case 'force':
      return { force: true };
    case 'table':
      return { table: parseCount(value, 254) };
    case 'zone':
      return parseZone(value);
    case 'nat':
      return { nat: parseNat(value) };
    case 'exec':
      return { exec: parseActions(value) };
    case 'alg':
      if (value === 'ftp' || value === 'tftp') return { alg: value };
      throw new RangeError(`ct: there is no helper ${quote(value)}`);
    default:
      throw new RangeError(`ct: there is no ${quote(key)}`);
  }
}

export function parseConntrack(text: string | undefined, parseActions: ParseActions): Conntrack {
  const parts = splitOutside(text ?? '', ',').map((term) => parseTerm(term, parseActions));
  return Object.assign({ type: 'ct' }, ...parts) as Conntrack;
}

function formatRange({ addresses, ports }: Nat): string {
  const isIpv6 = addresses?.includes('::') === true || (addresses?.split(':').length ?? 0) > 2;
  const bracketed = isIpv6
    ? addresses
        ?.split('-')
        .map((end) => `[${end}]`)
        .join('-')
    : addresses;
  const [first, last] = ports ?? [];
  const range = first === undefined ? '' : first === last ? `:${first}` : `:${first}-${last}`;
  return `${bracketed ?? ''}${range}`;
}

function formatNat(nat: Nat): string {
  const range = formatRange(nat);
  const terms = [
    ...(nat.direction === undefined ? [] : [range === '' ? nat.direction : `${nat.direction}=${range}`]),
    ...(nat.persistent ? ['persistent'] : []),
    ...(nat.choice === undefined ? [] : [nat.choice]),
  ];
  return terms.length === 0 ? 'nat' : `nat(${terms.join(',')})`;
}

const formatZone = (zone: NonNullable<Conntrack['zone']>): string =>
  typeof zone === 'number' ? String(zone) : formatSubfield(zone);

export function formatConntrack(action: Conntrack, formatActions: FormatActions): string {
  const { commit, force, table, zone, nat, exec, alg } = action;
  const terms = [
    ...(commit ? ['commit'] : []),
    ...(force ? ['force'] : []),
    ...(table === undefined ? [] : [`table=${table}`]),
    ...(zone === undefined ? [] : [`zone=${formatZone(zone)}`]),
    ...(nat === undefined ? [] : [formatNat(nat)]),
    ...(exec === undefined ? [] : [`exec(${formatActions(exec)})`]),
    ...(alg === undefined ? [] : [`alg=${alg}`]),
  ];
  return terms.length === 0 ? 'ct' : `ct(${terms.join(',')})`;
}
