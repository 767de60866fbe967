import { run } from '@podwire/testkit';
import type { OvsdbServer } from '@podwire/testkit/ovsdb';

/** Every row of every table, in the order of their uuids. */
export async function dumpRows({ endpoint }: OvsdbServer): Promise<readonly string[]> {
  const dump = await run(['ovsdb-client', '--format=json', 'dump', endpoint]);
  return dump.split('\n').flatMap((table) => (table === '' ? [] : [sortRows(table)]));
}

function sortRows(text: string): string {
  const table = JSON.parse(text) as { caption: string; data: readonly unknown[] };
  const rows = table.data.map((row) => JSON.stringify(row)).sort();
  return `${table.caption}\n${rows.join('\n')}`;
}
