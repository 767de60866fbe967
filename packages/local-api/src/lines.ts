/** Lines of a stream of bytes. Not node:readline, which loses the stream's errors or throws them uncaught. */

/** @param limit bytes of the longest line; a stream with a longer one is broken off @throws Error; the stream's errors */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  limit = 16 << 20,
): AsyncIterable<string> {
  const decoder = new TextDecoder();
  // Joined once, at the end of the line: joining at every chunk takes a minute for a line of 16 MiB.
  let parts: string[] = [];
  let length = 0;
  const take = (part: string): void => {
    parts.push(part);
    length += part.length;
  };
  const release = (): string => {
    const line = parts.join('');
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    take(first);
    for (const other of others) {
      yield release();
      take(other);
    }
    if (length > limit) throw new Error(`a line is longer than ${limit} bytes`);
  }
  take(decoder.decode());
  if (length > 0) yield release();
}
