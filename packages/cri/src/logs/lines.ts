const lineBreak = 0x0a;
/** No runtime writes longer lines; a file that has them is no log. */
const maxLine = 4 * 1_048_576;

export interface LineCutter {
  /** The lines that a chunk completes, without their line breaks. */
  cut(chunk: Buffer): Generator<Buffer>;
  /** The text that has no line break yet. */
  rest(): Buffer;
}

/** Every byte is copied once at most, however long its line; what is held is bounded. */
export function createLineCutter(): LineCutter {
  let parts: Buffer[] = [];
  let held = 0;
  const hold = (part: Buffer): void => {
    held += part.length;
    if (held > maxLine) [parts, held] = [[], 0];
    else if (part.length > 0) parts.push(part);
  };
  return {
    *cut(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(lineBreak); end >= 0; end = chunk.indexOf(lineBreak, start)) {
        const part = chunk.subarray(start, end);
        const line = parts.length === 0 ? part : Buffer.concat([...parts, part]);
        [parts, held] = [[], 0];
        start = end + 1;
        yield line;
      }
      hold(chunk.subarray(start));
    },
    rest: () => Buffer.concat(parts),
  };
}
