/** Where the values of a JSON text stand. Reading it as YAML would say so too, and takes twenty times as long. */
import type { Path } from './path.js';

/** Deeper values are not told: the path of each would be as long as it is deep. */
const mostDepth = 128;

interface Container {
  /** Undefined where it is too deep. */
  readonly path: string | undefined;
  readonly isList: boolean;
  /** Of the entry that comes next, or is being read. */
  index: number;
  name: string;
  nameAt: number;
  expectsName: boolean;
}

/** A path as a key of what {@link findJsonPlaces} returns. */
export const jsonPathKey = (path: Path): string => path.map(stepKey).join('');

/** With its length in front, no name can look like two. */
const stepKey = (step: string | number): string =>
  typeof step === 'number' ? `#${step},` : `${step.length}:${step},`;

/**
 * Offsets of all values by their path; of a map's entry that of its key, since that is where people look.
 * @param text JSON that can be parsed
 */
export function findJsonPlaces(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const around: Container[] = [];
  for (let at = 0; at < text.length;) at = readOne(text, at, around, places);
  return places;
}

/** @returns the offset of what comes next */
function readOne(text: string, at: number, around: Container[], places: Map<string, number>): number {
  const inside = around.at(-1);
  switch (text[at]) {
    case '{':
    case '[':
      around.push(open(note(at, inside, around.length, places), text[at] === '['));
      return at + 1;
    case '}':
    case ']':
      around.pop();
      return at + 1;
    case ',':
      goOn(inside);
      return at + 1;
    case '"':
      return readString(text, at, around, places);
    case ':':
    case ' ':
    case '\n':
    case '\r':
    case '\t':
      return at + 1;
    default:
      note(at, inside, around.length, places);
      return endOfWord(text, at);
  }
}

const open = (path: string | undefined, isList: boolean): Container => {
  const expectsName = !isList;
  return { path, isList, index: 0, name: '', nameAt: 0, expectsName };
};

function goOn(inside: Container | undefined): void {
  if (inside === undefined) return;
  inside.index++;
  inside.expectsName = !inside.isList;
}

function readString(text: string, at: number, around: Container[], places: Map<string, number>): number {
  const end = endOfString(text, at);
  const inside = around.at(-1);
  if (inside?.expectsName === true) {
    inside.name = readName(text.slice(at, end));
    inside.nameAt = at;
    inside.expectsName = false;
  } else note(at, inside, around.length, places);
  return end;
}

const readName = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);

/** @returns the path of the value that begins here */
function note(
  at: number,
  inside: Container | undefined,
  depth: number,
  places: Map<string, number>,
): string | undefined {
  if (depth > mostDepth || (inside !== undefined && inside.path === undefined)) return undefined;
  const step = inside && (inside.isList ? inside.index : inside.name);
  const path = (inside?.path ?? '') + (step === undefined ? '' : stepKey(step));
  places.set(path, inside === undefined || inside.isList ? at : inside.nameAt);
  return path;
}

/** Behind the closing quote: the first that no odd number of backslashes stands before. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote > 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === '\\') before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

const wordEnd = /[\s,\]}]/g;

function endOfWord(text: string, start: number): number {
  wordEnd.lastIndex = start + 1;
  return wordEnd.exec(text)?.index ?? text.length;
}
