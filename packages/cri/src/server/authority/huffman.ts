/**
 * The part of HPACK's Huffman code (RFC 7541, appendix B) that paths are written with. Codes of one length follow one another in the
 * order of their characters, so the first code and the characters say everything.
 */
const groups: readonly (readonly [length: number, first: number, characters: string])[] = [
  [5, 0x0, '012aceiost'],
  [6, 0x14, ' %-./3456789=A_bdfghlmnpru'],
  [7, 0x5c, ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz'],
  [8, 0xf8, '&*,;XZ'],
  [10, 0x3f8, '!"()?'],
  [11, 0x7fa, "'+|"],
  [12, 0xffa, '#>'],
  [13, 0x1ff9, '$@[]~'],
];

const longest = 13;

const characters = new Map(
  groups.flatMap(([length, first, text]) =>
    [...text].map((character, index) => [keyOf(length, first + index), character] as const),
  ),
);

/** @returns the text, or nothing where it has characters that are not known here */
export function decodeHuffman(packed: Buffer): string | undefined {
  let text = '';
  let code = 0;
  let length = 0;
  for (const byte of packed) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = (code << 1) | ((byte >> bit) & 1);
      length += 1;
      const character = characters.get(keyOf(length, code));
      if (character !== undefined) {
        text += character;
        code = 0;
        length = 0;
      } else if (length > longest) return undefined;
    }
  }
  // The rest of the last byte is filled with ones.
  return length < 8 && code === (1 << length) - 1 ? text : undefined;
}

function keyOf(length: number, code: number): number {
  return (length << 16) | code;
}
