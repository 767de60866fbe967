/** `describe KIND/NAME`: one object with where it comes from, and what nodes say about it. */
import type { ObjectReference, StoredObject } from '@podwire/objects';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { colorsFor, type Io, printable, writeJson, writeLines } from '../io.js';
import { formatAge } from '../render/times.js';
import { readTarget, shortName, toReference, tryKind, unknownObject } from './names.js';
import { type Objects, withObjects } from './place.js';

/** Undefined: the words name a pod. */
export function readObjectTarget(words: readonly string[], namespace?: string): ObjectReference | undefined {
  const [first = '', second] = words;
  const slash = first.indexOf('/');
  const kind =
    slash < 0 && second === undefined ? undefined : tryKind(slash < 0 ? first : first.slice(0, slash));
  if (kind === undefined) return undefined;
  const { names } = readTarget(words);
  return toReference(kind, names.join('/'), namespace);
}

interface Problem {
  readonly node: string;
  readonly message: string;
}

export async function describeObject(
  command: Command,
  io: Io,
  format: string,
  reference: ObjectReference,
): Promise<void> {
  const { stored, problems } = await withObjects(command, io, async (place, signal) => {
    const found = await place.source.get(reference, { signal });
    if (found === undefined) throw unknownObject(reference, place.source.name);
    return { stored: found, problems: await readProblems(place, reference, signal) };
  });
  if (format === 'json') return writeJson(io, { ...stored, problems });
  return writeLines(io, render(io, reference, stored, problems));
}

function render(
  io: Io,
  reference: ObjectReference,
  { object, origin, created, revision }: StoredObject,
  problems: readonly Problem[],
): string[] {
  const paint = colorsFor(io, io.stdout);
  const age = created === undefined ? '' : `, ${formatAge(io.now() - created)} old`;
  const text = stringify(JSON.parse(JSON.stringify(object)), { lineWidth: 0, aliasDuplicateObjects: false });
  return [
    `${paint.bold(printable(shortName(reference)))}: ${object.kind} of ${object.apiVersion}, revision ${revision}${age}`,
    ...(origin === undefined ? [] : [`from ${printable(origin.file)}, line ${origin.line}`]),
    ...problems.map(
      ({ node, message }) => `${paint.red('not in force')} on ${printable(node)}: ${printable(message)}`,
    ),
    '',
    ...text.trimEnd().split('\n').map(printable),
  ];
}

/** Problems that the nodes' agents have reported for this object. */
async function readProblems(
  { cluster }: Objects,
  reference: ObjectReference,
  signal: AbortSignal,
): Promise<Problem[]> {
  if (cluster === undefined) return [];
  const [{ folders, policyStatusKind }, { decodeObject }, { referenceKey }] = await Promise.all([
    import('@podwire/cluster-state'),
    import('@podwire/store'),
    import('@podwire/objects'),
  ]);
  const { items } = await cluster.store.list(`${cluster.root}/${folders.policyStatus}`, { signal });
  const key = referenceKey(reference);
  return items.flatMap(({ key: at, value }) => {
    const { node, problems } = decodeObject(policyStatusKind, at, value);
    return problems.filter(({ object }) => object.startsWith(key)).map(({ message }) => ({ node, message }));
  });
}
