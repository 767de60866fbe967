import type { TerminalSize } from './handlers.js';

/** One message of a resize stream. Go's JSON writes a line break after each. */
export function encodeSize({ width, height }: TerminalSize): Buffer {
  return Buffer.from(`${JSON.stringify({ Width: width, Height: height })}\n`, 'utf8');
}

/** Longer than any size with spaces can be. */
const maxMessage = 1024;

/**
 * Reads sizes from a resize stream, in whatever pieces they come.
 * @returns what takes the next bytes and gives the sizes that are complete. It throws on what is no size.
 */
export function createSizeDecoder(): (chunk: Buffer) => TerminalSize[] {
  let rest = '';
  return (chunk) => {
    rest += chunk.toString('latin1');
    const parts = rest.split('}');
    rest = parts.pop()!;
    if (rest.length > maxMessage) throw new Error('the resize stream carries no sizes');
    return parts.map((part) => parseSize(`${part}}`));
  };
}

function parseSize(text: string): TerminalSize {
  const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
  const read = (name: string): number => {
    // Go matches names in any case, so clients get away with "width".
    const value = entries.find(([key]) => key.toLowerCase() === name)?.[1] ?? 0;
    const valid = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff;
    if (!valid) throw new Error(`no ${name} of a terminal: ${text}`);
    return value;
  };
  return { width: read('width'), height: read('height') };
}

/** A queue of one: who is slow sees the newest size only. */
export interface SizeQueue extends AsyncIterable<TerminalSize> {
  push(size: TerminalSize): void;
  end(): void;
}

export function createSizeQueue(): SizeQueue {
  let newest: TerminalSize | undefined;
  let ended = false;
  let wake = (): void => undefined;
  return {
    push: (size) => {
      newest = size;
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (newest !== undefined) {
          const size = newest;
          newest = undefined;
          yield size;
        } else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
