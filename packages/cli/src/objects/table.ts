import type { KindDefinition, StoredObject } from '@podwire/objects';
import type { Column, TableOptions } from '../render/table.js';
import { formatAge } from '../render/times.js';

/** The table of one kind, as `get` shows it. */
export function objectTable(
  { columns, namespaced }: KindDefinition,
  objects: readonly StoredObject[],
  { wide, now }: { readonly wide: boolean; readonly now: number },
): TableOptions {
  const shown = columns.filter((column) => wide || column.wide !== true);
  const head: (string | Column)[] = [
    ...(namespaced ? ['NAMESPACE'] : []),
    { title: 'NAME', cut: 'name', importance: Infinity },
    ...shown.map(({ title }) => title),
    { title: 'AGE', cut: 'never' },
    ...(wide ? ['FROM'] : []),
  ];
  const rows = objects.map(({ object, origin, created }) => [
    ...(namespaced ? [object.metadata.namespace ?? ''] : []),
    object.metadata.name,
    ...shown.map((column) => column.show(object)),
    created === undefined ? '-' : formatAge(now - created),
    ...(wide ? [origin === undefined ? '-' : `${origin.file}:${origin.line}`] : []),
  ]);
  return { head, rows };
}
