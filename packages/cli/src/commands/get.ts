import type { AnyObject, KindDefinition, ObjectListing, StoredObject } from '@podwire/objects';
import type { Command } from 'commander';
import { addExamples, addOutput, optionsOf } from '../command.js';
import { colorsFor, exitCodes, type Io, printable, widthOf } from '../io.js';
import { addObjects, type Objects, withObjects } from '../objects/place.js';
import { addWatch, showView } from '../output/show.js';

interface GetOptions {
  readonly namespace?: string;
  readonly selector?: string;
}

interface Question {
  readonly kind: KindDefinition;
  readonly names: readonly string[];
  readonly options: GetOptions;
}

export function define(command: Command, io: Io): void {
  command
    .description(
      'Lists policies and other objects of a kind, of all namespaces or one; or shows single ones. `podwire explain KIND` says what their fields mean.',
    )
    .argument('<words...>', 'KIND, KIND NAME…, or KIND/NAME')
    .option('-n, --namespace <name>', 'only of this namespace')
    .option('-A, --all-namespaces', 'of all namespaces, which is the default')
    .option('-l, --selector <selector>', 'only with these labels: tier in (a,b),!old')
    .action((words: string[]) => get(command, io, words));
  addOutput(addObjects(addWatch(command)), ['text', 'wide', 'name', 'json']);
  addExamples(command, [
    ['podwire get netpol', ''],
    ['podwire get netpol web -n shop -o yaml', 'what `podwire apply -f -` takes again'],
    ['podwire get cnp -l team=web -w', ''],
    ['podwire get networkpolicies.projectcalico.org', 'where two groups have the word'],
  ]).addHelpText('after', '\nExit code 4: there are objects of the kind that cannot be read.');
}

async function get(command: Command, io: Io, words: readonly string[]): Promise<void> {
  const { readTarget } = await import('../objects/names.js');
  const question = { ...readTarget(words), options: optionsOf(command) as GetOptions };
  const read = (): Promise<ObjectListing> =>
    withObjects(command, io, (place, signal) => ask(place, question, signal));
  const { shortName } = await import('../objects/names.js');
  const { referenceOf } = await import('@podwire/objects');
  const isSingle = question.names.length === 1;
  return showView<ObjectListing>(command, io, {
    read,
    data: ({ objects }) => (isSingle && objects.length === 1 ? objects[0]!.object : toList(objects)),
    names: ({ objects }) => objects.map(({ object }) => shortName(referenceOf(object))),
    notes: (listing) => describeNotes(listing, question),
    lines: (listing) => render(listing, question, io),
    evaluate: ({ unreadable }) => {
      if (unreadable.length > 0) io.exitCode = exitCodes.notAsItShould;
    },
    watch: {
      rows: ({ objects }) => objects,
      follow: (wake, signal) => withObjects(command, io, (place) => follow(place, wake, signal)),
    },
  });
}

async function follow({ source }: Objects, wake: () => void, signal: AbortSignal): Promise<void> {
  for await (const batch of source.watch({ signal })) if (batch.type === 'changes') wake();
}

/** As Kubernetes has it, so that it can be applied again. */
const toList = (objects: readonly StoredObject[]): unknown => ({
  apiVersion: 'v1',
  kind: 'List',
  items: objects.map(({ object }) => object),
});

async function ask(
  { source }: Objects,
  { kind, names, options }: Question,
  signal: AbortSignal,
): Promise<ObjectListing> {
  const { toReference, unknownObject } = await import('../objects/names.js');
  const { referenceKey, referenceOf } = await import('@podwire/objects');
  const holds = await readSelector(options.selector);
  const { namespace } = options;
  const listing = await source.list({ kinds: [kind], signal, ...(names.length === 0 && { namespace }) });
  const wanted = names.map((name) => toReference(kind, name, namespace));
  const keys = new Set(wanted.map(referenceKey));
  const isWanted = (key: string): boolean => keys.size === 0 || keys.has(key);
  const found = new Map(listing.objects.map((each) => [referenceKey(referenceOf(each.object)), each]));
  const bad = listing.unreadable.filter(({ reference }) => isWanted(referenceKey(reference)));
  const broken = new Set(bad.map(({ reference }) => referenceKey(reference)));
  for (const reference of wanted) {
    const key = referenceKey(reference);
    if (!found.has(key) && !broken.has(key)) throw unknownObject(reference, source.name);
  }
  const objects = [...found].flatMap(([key, each]) => (isWanted(key) && holds(each.object) ? [each] : []));
  return { objects: objects.toSorted(byName), unreadable: bad, revision: listing.revision };
}

function byName(
  { object: { metadata: a } }: StoredObject,
  { object: { metadata: b } }: StoredObject,
): number {
  const [left, right] = [`${a.namespace ?? ''}/${a.name}`, `${b.namespace ?? ''}/${b.name}`];
  return left < right ? -1 : left === right ? 0 : 1;
}

/** @throws PodwireError REQUEST_INVALID naming the place */
async function readSelector(text: string | undefined): Promise<(object: AnyObject) => boolean> {
  if (text === undefined) return () => true;
  const { parseSelector } = await import('@podwire/cluster-ipam');
  const holds = parseSelector(text);
  return ({ metadata }) => holds(metadata.labels ?? {});
}

function describeNotes({ objects, unreadable }: ObjectListing, { kind }: Question): string[] {
  const broken = unreadable.flatMap(({ reference, problems }) =>
    problems.map(({ file, line, field, message }) =>
      printable(
        `warning: ${reference.name} cannot be read: ${file}:${line}: ${field === undefined ? '' : `${field}: `}${message}`,
      ),
    ),
  );
  return objects.length === 0 && broken.length === 0 ? [`no ${kind.plural}`] : broken;
}

async function render({ objects }: ObjectListing, { kind }: Question, io: Io): Promise<string[]> {
  if (objects.length === 0) return [];
  const [{ renderTable }, { objectTable }] = await Promise.all([
    import('../render/table.js'),
    import('../objects/table.js'),
  ]);
  const table = objectTable(kind, objects, { wide: io.format === 'wide', now: io.now() });
  return renderTable(table, colorsFor(io, io.stdout), widthOf(io));
}
