import fc from 'fast-check';

/** A JSON document as text, with spaces and escapes wherever the grammar allows them, and its value. */
export interface Document {
  readonly text: string;
  readonly value: unknown;
}

type Json = string | number | boolean | null | Json[] | Members;
/** An object as a list of members, so that keys can come twice: the last one counts (RFC 8259 §4). */
interface Members {
  readonly members: readonly (readonly [string, Json])[];
}

/** Strings that a careless scan trips over, keys that it looks for, and whatever else. */
const words = fc.oneof(
  fc.constantFrom('socket', 'cniVersion', 'plugins', 'prevResult', '', '\\', '"', '{', '}}', '],', ':'),
  fc.constantFrom(
    '{"socket":"/dev/null/inner"}',
    '\\"socket\\":\\"/dev/null/escaped',
    '\ud83d',
    '\u0000',
    'ä€😀',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const sockets = fc.oneof(
  fc.constantFrom('/dev/null/a', '/dev/null/b', '/dev/null/"\\\n', ''),
  fc.string({ unit: 'grapheme', maxLength: 15 }).map((name) => `/dev/null/${name}`),
);

const { members } = fc.letrec<{ json: Json; members: Members }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(words, sockets, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)), // prettier-ignore
    fc.array(tie('json'), { maxLength: 4 }),
    tie('members'),
  ),
  members: fc
    .array(
      fc.oneof(
        fc.tuple(words, tie('json')),
        fc.tuple(fc.constantFrom('socket', 'cniVersion'), fc.oneof(sockets, words)),
      ),
      { maxLength: 5 },
    )
    .map((list) => ({ members: list })),
}));

const SHORT: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '/': '/',
};

/** Writes a document; every free choice of the grammar takes the next number of `choices`, over and over. */
class Writer {
  readonly #choices: readonly number[];
  #next = 0;

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  #choose(among: number): number {
    return (this.#choices[this.#next++ % this.#choices.length] ?? 0) % among;
  }

  #space(): string {
    return ['', '', '', ' ', '\n', '\t\r '][this.#choose(6)] ?? '';
  }

  #string(text: string): string {
    const units = Array.from({ length: text.length }, (_, index) => this.#unit(text.charAt(index)));
    return `"${units.join('')}"`;
  }

  #unit(unit: string): string {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
    const escape = `\\u${this.#choose(2) === 0 ? hex : hex.toUpperCase()}`;
    if (SHORT[unit] !== undefined && this.#choose(2) === 0) return `\\${SHORT[unit]}`;
    if (unit < ' ' || (unit >= '\ud800' && unit <= '\udfff') || this.#choose(5) === 0) return escape;
    return unit === '"' || unit === '\\' ? `\\${unit}` : unit;
  }

  write(json: Json): string {
    return `${this.#space()}${this.#bare(json)}${this.#space()}`;
  }

  #bare(json: Json): string {
    if (typeof json === 'string') return this.#string(json);
    if (typeof json !== 'object' || json === null) return JSON.stringify(json);
    if (Array.isArray(json)) return `[${json.map((item) => this.write(item)).join(',') || this.#space()}]`;
    const list = json.members.map(
      ([key, value]) => `${this.#space()}${this.#string(key)}${this.#space()}:${this.write(value)}`,
    );
    return `{${list.join(',') || this.#space()}}`;
  }
}

const choices = fc.array(fc.nat(60), { minLength: 1, maxLength: 100 });

/** Well-formed documents whose outermost value is an object. */
export const documents: fc.Arbitrary<Document> = fc.tuple(members, choices).map(([json, list]) => {
  const text = new Writer(list).write(json);
  return { text, value: JSON.parse(text) as unknown };
});

/** The ways in which one string can be written. */
export const spellingsOf = (text: string): fc.Arbitrary<string> =>
  choices.map((list) => new Writer(list).write(text));

/** Documents with a byte taken out, put in or doubled somewhere, or cut off: mostly not well-formed. */
export const damagedDocuments: fc.Arbitrary<Buffer> = fc
  .tuple(documents, fc.nat(), fc.constantFrom('cut', 'drop', 'double', ...'"\\{}[]:,\n\u0000\u001fu'))
  .map(([{ text }, position, damage]) => {
    const bytes = Buffer.from(text);
    const at = position % (bytes.length + 1);
    const before = bytes.subarray(0, at);
    if (damage === 'cut') return before;
    if (damage === 'drop') return Buffer.concat([before, bytes.subarray(at + 1)]);
    if (damage === 'double') return Buffer.concat([before, bytes.subarray(Math.max(0, at - 1))]);
    return Buffer.concat([before, Buffer.from(damage), bytes.subarray(at)]);
  });

/** A text of JSON.stringify with U+FFFD for halves of surrogate pairs: it writes them, and UTF-8 does not have them. */
export const replaceHalves = (json: string): string =>
  json.replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd');
