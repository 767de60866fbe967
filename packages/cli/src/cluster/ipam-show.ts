/** `podwire ipam show` of a cluster. */
import type { AddressShown, ClusterShown, ClusterSnapshot } from '@podwire/cluster-ipam/operations';
import type { Command } from 'commander';
import { optionsOf } from '../command.js';
import { type Colors, colorsFor, type Io, printable, widthOf } from '../io.js';
import { showView } from '../output/show.js';
import { formatPlural } from '../render/counts.js';
import type { TableOptions } from '../render/table.js';
import type { ClusterPlace } from './options.js';
import { withSlowProgress } from './slow-progress.js';
import { withStoreAt } from './with-store.js';

interface Options {
  readonly ip?: string;
  readonly leases?: boolean;
  readonly blocks?: boolean;
  readonly borrowed?: boolean;
  readonly configuration?: boolean;
}

export async function showOfCluster(command: Command, io: Io, place: ClusterPlace): Promise<void> {
  const options = optionsOf(command) as Options;
  const { compareCidrs, readCluster, showAddress, showCluster } =
    await import('@podwire/cluster-ipam/operations');
  const read = (): Promise<ClusterSnapshot> =>
    withStoreAt(place, io, (access, signal) =>
      withSlowProgress(io, 'reading the cluster', () => readCluster(access, signal)),
    );
  const { ip } = options;
  if (ip !== undefined) {
    return showView<AddressShown>(command, io, {
      read: async () => showAddress(await read(), ip),
      data: (shown) => shown,
      lines: describeAddress,
    });
  }
  const leasesIn = (snapshot: ClusterSnapshot) =>
    leasesOf(snapshot).sort((a, b) => compareCidrs(a.address, b.address));
  return showView<ClusterSnapshot>(command, io, {
    read,
    data: (snapshot) => ({
      ...showCluster(snapshot),
      ...(options.leases === true ? { leases: leasesIn(snapshot) } : {}),
    }),
    notes: ({ pools }) => (pools.size === 0 ? ['no pools: `podwire pool create NAME CIDR` makes one'] : []),
    lines: (snapshot) => renderCluster(showCluster(snapshot), leasesIn(snapshot), options, io, widthOf(io)),
  });
}

const leasesOf = ({ allocationRecords }: ClusterSnapshot) =>
  allocationRecords.flatMap(({ value: { node, cidr, entries } }) =>
    entries.map((entry) => ({ ...entry, node, block: cidr })),
  );

async function renderCluster(
  shown: ClusterShown,
  inUse: ReturnType<typeof leasesOf>,
  { leases, blocks, borrowed, configuration }: Options,
  io: Io,
  width: number,
): Promise<string[]> {
  const [{ renderTable }, tables] = await Promise.all([import('../render/table.js'), import('./tables.js')]);
  const paint = colorsFor(io, io.stdout);
  const part = (wanted: boolean | undefined, title: string, lines: () => string[]): string[] =>
    wanted === true ? ['', paint.bold(title), ...lines()] : [];
  const table = (options: TableOptions): string[] =>
    options.rows.length === 0 ? ['none'] : renderTable(options, paint, width);
  const usage =
    shown.pools.length === 0
      ? []
      : renderTable(tables.usageTable(shown, blocks === true, paint), paint, width);
  return [
    ...usage,
    ...(shown.outside === 0
      ? []
      : [
          `${formatPlural(shown.outside, 'address')} in use ${shown.outside === 1 ? 'lies' : 'lie'} in no pool: podwire ipam check`,
        ]),
    ...part(leases, 'addresses in use', () => table(tables.leaseTable(inUse, io.now()))),
    ...part(borrowed, 'borrowed', () => table(tables.borrowedTable(shown.loans))),
    ...part(configuration, 'settings', () => describeSettings(shown, paint)),
  ];
}

function describeSettings({ pools }: ClusterShown, paint: Colors): string[] {
  return pools.map(({ configuration: { name, deleting: _, ...rest } }) => {
    const fields = Object.entries(rest).map(([key, value]) => `${key}=${printable(JSON.stringify(value))}`);
    return `${paint.bold(printable(name))} ${fields.join(' ')}`;
  });
}

const states: Readonly<Record<AddressShown['state'], string>> = {
  'in-use': 'in use',
  reserved: 'reserved: never handed out',
  free: 'not reported in use; it may cool down on its node',
  outside: 'in no pool',
};

export function describeAddress(shown: AddressShown): string[] {
  const { address, state, pool, network, block, blockOwner, borrower, uses, keptFor } = shown;
  const rows: (readonly [string, string | undefined])[] = [
    ...uses.map(({ pod, owner, node, since }): readonly [string, string] => [
      'pod',
      `${pod ?? owner} on node ${node}${since === 0 ? '' : ` since ${new Date(since).toISOString()}`}`,
    ]),
    ['pool', pool === undefined ? undefined : `${pool} (network ${network})`],
    [
      'block',
      block === undefined
        ? undefined
        : `${block} of ${blockOwner === undefined ? 'no node' : `node ${blockOwner}`}`,
    ],
    ['lent to', borrower === undefined ? undefined : `node ${borrower}`],
    ['kept for', keptFor],
  ];
  return [
    `${address}: ${states[state]}${uses.length > 1 ? ', more than once: podwire ipam check' : ''}`,
    ...rows.flatMap(([key, value]) => (value === undefined ? [] : [`${key.padEnd(9)}${printable(value)}`])),
  ];
}
