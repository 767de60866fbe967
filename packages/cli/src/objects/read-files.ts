/** Objects of files, directories and standard input: all of them, or an error with all that is wrong. */
import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import {
  formatObjectProblem,
  kinds,
  type ReadObject,
  readObjects,
  referenceKey,
  referenceOf,
} from '@podwire/objects';

const mostFiles = 100_000;

/**
 * @param places files; directories, whose YAML and JSON files are read; `-` is standard input
 * @param namespace of objects that name none
 * @returns in an order in which they can be applied: namespaces and tiers before what lies in them
 * @throws PodwireError MANIFEST_INVALID with file, line and field of everything that is wrong in any of them
 */
export function readObjectFiles(
  places: readonly string[],
  namespace: string | undefined,
): readonly ReadObject[] {
  const texts = places
    .flatMap(listFiles)
    .map((file) => readObjects(readText(file), nameOf(file), { namespace }));
  const objects = texts.flatMap((text) => text.objects);
  const problems = [
    ...texts.flatMap((text) => text.problems.map(formatObjectProblem)),
    ...describeDoubles(objects),
  ];
  if (problems.length === 0 && objects.length === 0)
    problems.push(`${places.join(' ')}: there is no object in it`);
  if (problems.length > 0) throw new PodwireError('MANIFEST_INVALID', problems.join('\n'));
  const ranks = new Map(kinds.map(({ apiVersion, kind }, index) => [`${apiVersion} ${kind}`, index]));
  const rankOf = ({ object }: ReadObject): number => ranks.get(`${object.apiVersion} ${object.kind}`) ?? 0;
  return objects.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function listFiles(place: string): string[] {
  if (place === '-' || fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return [place];
  const names = fs.readdirSync(place).filter((name) => /^[^.].*\.(?:ya?ml|json)$/.test(name));
  if (names.length > mostFiles)
    throw new PodwireError('MANIFEST_INVALID', `${place} has more than ${mostFiles} files`);
  return names.toSorted().map((name) => path.join(place, name));
}

const nameOf = (file: string): string => (file === '-' ? 'stdin' : file);

function readText(file: string): string {
  try {
    return fs.readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new PodwireError('MANIFEST_INVALID', `${nameOf(file)}: cannot be read`, { cause });
  }
}

/** Within one file, the reader finds them. */
function describeDoubles(objects: readonly ReadObject[]): string[] {
  const first = new Map<string, ReadObject>();
  return objects.flatMap((each) => {
    const key = referenceKey(referenceOf(each.object));
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, each);
      return [];
    }
    const { file, line } = each.origin;
    return [`${file}:${line}: ${key} stands in ${earlier.origin.file}:${earlier.origin.line} already`];
  });
}
