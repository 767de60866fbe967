/** Documents one after another, as Docker sends progress and events: usually one a line, but nothing promises that. */

/** More than this without an end is no document. */
const documentCap = 8 * 1024 * 1024;

/** Decodes documents as they come. @throws Error for what is no JSON */
export async function* readJsonStream<T>(source: AsyncIterable<Buffer>): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  const splitter = createSplitter();
  for await (const chunk of source) {
    for (const document of splitter(decoder.decode(chunk, { stream: true }))) yield JSON.parse(document) as T;
  }
  const rest = splitter('\n')
    .concat(splitter.rest())
    .filter((text) => text.trim() !== '');
  if (rest.length > 0) throw new Error(`a document was cut off: ${rest.join('').slice(0, 100)}`);
}

interface Splitter {
  (text: string): string[];
  rest(): string[];
}

/** Finds the ends of objects by their braces, leaving out those within strings. */
function createSplitter(): Splitter {
  let pending = '';
  let scanned = 0;
  let depth = 0;
  let inString = false;
  const split = (text: string): string[] => {
    pending += text;
    const documents: string[] = [];
    let start = 0;
    for (; scanned < pending.length; scanned += 1) {
      const character = pending[scanned];
      if (inString) {
        if (character === '\\') scanned += 1;
        else if (character === '"') inString = false;
      } else if (character === '"') inString = true;
      else if (character === '{') depth += 1;
      else if (character === '}' && (depth -= 1) === 0) {
        documents.push(pending.slice(start, scanned + 1));
        start = scanned + 1;
      }
    }
    pending = pending.slice(start);
    scanned -= start;
    if (pending.length > documentCap) throw new Error(`a document of more than ${documentCap} characters`);
    return documents;
  };
  return Object.assign(split, { rest: () => [pending] });
}
