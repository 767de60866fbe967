/** Lines of a stream of bytes. Not node:readline, which loses the stream's errors or throws them where nobody catches. */

/** @param limit bytes of the longest line; a stream with a longer one is broken off @throws Error; the stream's errors */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  limit = 16 << 20,
): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > limit) throw new Error(`a line is longer than ${limit} bytes`);
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
