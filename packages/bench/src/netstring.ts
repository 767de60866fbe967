/** Netstrings (`LENGTH:BYTES,`): text of any content, one after another, that a small C program reads without a parser. */
export function writeNetstrings(texts: readonly (string | number)[]): Buffer {
  return Buffer.concat(
    texts.map((text) => {
      const bytes = Buffer.from(String(text), 'utf8');
      return Buffer.concat([Buffer.from(`${bytes.length}:`), bytes, comma]);
    }),
  );
}

const comma = Buffer.from(',');

/** @throws SyntaxError for anything else than whole netstrings */
export function readNetstrings(data: Buffer): string[] {
  const texts: string[] = [];
  for (let position = 0; position < data.length;) {
    const colon = data.indexOf(':', position);
    const length = Number(data.toString('latin1', position, colon));
    const end = colon + 1 + length;
    if (colon < 0 || !Number.isInteger(length) || data[end] !== comma[0]) {
      throw new SyntaxError(`not a netstring at byte ${position}`);
    }
    texts.push(data.toString('utf8', colon + 1, end));
    position = end + 1;
  }
  return texts;
}
