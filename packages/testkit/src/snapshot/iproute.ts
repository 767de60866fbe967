import type { TestNamespace } from '../namespaces.js';
import { keyed, without } from './keyed.js';

type Row = Readonly<Record<string, unknown>>;
type Section = Readonly<Record<string, unknown>>;

export interface LinkState {
  readonly links: Section;
  readonly addresses: Section;
  readonly routes: Section;
  readonly rules: Section;
  readonly neighbours: Section;
  readonly fdb: Section;
  readonly qdiscs: Section;
  readonly filters: Section;
}

/** Few programs with many commands each: a start costs more than what it prints. */
export async function readLinkState(namespace: TestNamespace): Promise<LinkState> {
  const [[links = [], routes = [], rules4 = [], permanent = [], proxies = []], [rules6 = []], qdiscs] =
    await Promise.all([
      batch(namespace, ['ip', '-d'], ipCommands),
      batch(namespace, ['ip', '-6'], ['rule show']),
      readQdiscs(namespace),
    ]);
  return {
    links: keyed(links, nameOf, describeLink),
    addresses: keyed(
      links.flatMap(addressesOf),
      (row) => `${text(row, 'link')} ${text(row, 'local')}`,
      describe,
    ),
    routes: keyed(
      routes.filter((row) => !isOfWorker(row)),
      routeKey,
      describeRoute,
    ),
    rules: { ...ruleSection('ipv4', rules4), ...ruleSection('ipv6', rules6) },
    neighbours: keyed(
      [...permanent, ...proxies],
      (row) => `${text(row, 'dev')} ${text(row, 'dst')}`,
      describe,
    ),
    fdb: links.some((link) => switching.has(kindOf(link))) ? await readFdb(namespace) : {},
    ...qdiscs,
  };
}

/** Kinds of links that have a forwarding table. */
const switching = new Set(['bridge', 'vxlan', 'macvlan']);
const kindOf = (link: Row): string => text((link['linkinfo'] ?? {}) as Row, 'info_kind');

/** Without the multicast groups that every link has joined by itself. */
async function readFdb(namespace: TestNamespace): Promise<Section> {
  const [rows = []] = await batch(namespace, ['bridge'], ['fdb show']);
  const own = rows.filter((row) => !/^(01:00:5e|33:33):/.test(text(row, 'mac')));
  return keyed(
    own,
    (row) => `${text(row, 'ifname')} ${text(row, 'mac')} ${text(row, 'dst')}`.trimEnd(),
    describe,
  );
}

const ipCommands = [
  'address show',
  'route show table all',
  'rule show',
  'neighbour show nud permanent',
  'neighbour show proxy',
];

/** iproute2 prints one JSON list for each command of a batch, and nothing at all for some empty ones. */
async function batch(
  namespace: TestNamespace,
  program: readonly string[],
  commands: readonly string[],
): Promise<Row[][]> {
  const output = await namespace.run([...program, '-j', '-batch', '-'], {
    input: `${commands.join('\n')}\n`,
  });
  return jsonDocuments(output);
}

/** Splits `[…][…] […]` into its lists. */
function jsonDocuments(output: string): Row[][] {
  const joined = output.trim().replace(/\]\s*\[/g, '],[');
  return joined === '' ? [] : (JSON.parse(`[${joined}]`) as Row[][]);
}

const text = (row: Row, key: string): string => {
  const value = row[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
const nameOf = (row: Row): string => text(row, 'ifname');

/** Derived, counted or timed by the kernel: none of it is configuration. */
const volatile = new Set([
  ...['ifindex', 'link_index', 'link_netnsid', 'operstate', 'qdisc', 'handle', 'refcnt', 'stats', 'stats64'],
  ...['addr_info', 'expires', 'valid_life_time', 'preferred_life_time', 'tentative', 'flags', 'allmulti'],
  ...['bridge_id', 'root_id', 'root_port', 'root_path_cost', 'topology_change', 'topology_change_detected'],
  ...['designated_bridge', 'designated_root', 'designated_port', 'designated_cost', 'no', 'id', 'state'],
  ...[
    'num_tx_queues',
    'num_rx_queues',
    'promiscuity',
    'bond_id',
    'backlog',
    'drops',
    'overlimits',
    'requeues',
  ],
]);
const isVolatile = (key: string): boolean =>
  volatile.has(key) || key.endsWith('_timer') || /^(gso|gro|tso)_/.test(key);
const describe = (row: Row): Row => without(row, isVolatile) as Row;
const flagsOf = (row: Row): readonly string[] =>
  Array.isArray(row['flags']) ? (row['flags'] as string[]) : [];

function describeLink(row: Row): Row {
  return { ...describe(row), up: flagsOf(row).includes('UP') };
}

function addressesOf(link: Row): Row[] {
  const rows = Array.isArray(link['addr_info']) ? (link['addr_info'] as Row[]) : [];
  return rows.map((row) => ({ ...row, link: nameOf(link), forever: row['valid_life_time'] === 4294967295 }));
}

/**
 * Entries that IPv6 derives from an address or a carrier, by a worker: a moment later, or seconds later where it looks
 * for duplicates (addrconf_dad_work). The address itself is in the snapshot.
 */
const isOfWorker = (row: Row): boolean =>
  text(row, 'dst').includes(':') &&
  text(row, 'table') === 'local' &&
  text(row, 'protocol') === 'kernel' &&
  ['local', 'anycast', 'multicast'].includes(text(row, 'type'));

function routeKey(row: Row): string {
  const where = ['table', 'dev', 'metric', 'tos']
    .filter((key) => key in row)
    .map((key) => `${key} ${text(row, key)}`);
  const type = text(row, 'type');
  return [...(type === '' || type === 'unicast' ? [] : [type]), text(row, 'dst'), ...where].join(' ');
}

function describeRoute(row: Row): Row {
  return { ...describe(row), onlink: flagsOf(row).includes('onlink') };
}

function ruleSection(family: string, rows: readonly Row[]): Section {
  return keyed(rows, (row) => `${family} ${text(row, 'priority')}`, describe);
}

const attempts = 5;

async function readQdiscs(namespace: TestNamespace): Promise<Pick<LinkState, 'qdiscs' | 'filters'>> {
  for (let attempt = 1; ; attempt += 1) {
    const [rows = []] = await batch(namespace, ['tc'], ['qdisc show']);
    const filtered = rows.filter((row) => !unfiltered.has(text(row, 'kind')));
    try {
      return {
        qdiscs: keyed(rows, qdiscKey, (row) => ({
          ...describe(row),
          handle: chosenHandle(text(row, 'handle')),
        })),
        filters: filtered.length === 0 ? {} : await readFilters(namespace, filtered),
      };
    } catch (error) {
      // A link that went between the two questions: ask again.
      if (attempt === attempts || !/Cannot find device/.test(String(error))) throw error;
    }
  }
}

/** Handles from 8000: to fffe: are numbered by the kernel (tc(8)); after the last comes the first again. */
const chosenHandle = (handle: string): string =>
  /^(?!ffff)[89a-f][0-9a-f]{3}:/.test(handle) ? 'automatic' : handle;

/** Qdiscs that no filter can hang on. */
const unfiltered = new Set(['noqueue', 'tbf', 'pfifo_fast', 'fq_codel', 'mq', 'pfifo', 'bfifo']);
const qdiscKey = (row: Row): string =>
  `${text(row, 'dev')} ${row['root'] === true ? 'root' : text(row, 'parent')} ${text(row, 'kind')}`;

async function readFilters(namespace: TestNamespace, qdiscs: readonly Row[]): Promise<Section> {
  const places = qdiscs.flatMap((row) => {
    const device = text(row, 'dev');
    if (text(row, 'kind') === 'clsact') return [`dev ${device} ingress`, `dev ${device} egress`];
    return [`dev ${device} parent ${text(row, 'handle')}`];
  });
  const lists = await batch(
    namespace,
    ['tc'],
    places.map((place) => `filter show ${place}`),
  );
  const rows = lists.flatMap((list, index) => list.map((row) => ({ ...row, place: places[index] ?? '' })));
  return keyed(
    rows,
    (row) => `${row.place} ${text(row, 'pref')} ${text(row, 'protocol')} ${text(row, 'kind')}`,
    (row) => without(row, (key) => filterVolatile.has(key)),
  );
}

const filterVolatile = new Set([
  'index',
  'ref',
  'bind',
  'installed',
  'last_used',
  'first_used',
  'stats',
  'place',
  'expires',
]);
