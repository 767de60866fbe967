/** One entry of an archive: a file with `content`, a symbolic link with `target`, or a directory. */
export interface TarEntry {
  readonly name: string;
  readonly content?: Uint8Array;
  readonly target?: string;
  /** permission bits */
  readonly mode?: number;
}

const BLOCK = 512;

/** Writes a POSIX ustar archive (IEEE 1003.1, pax "ustar Interchange Format"). Names of at most 100 bytes. */
export function writeTar(entries: readonly TarEntry[]): Buffer {
  const end = Buffer.alloc(2 * BLOCK);
  return Buffer.concat([...entries.flatMap(writeEntry), end]);
}

function writeEntry(entry: TarEntry): Buffer[] {
  const content = entry.content ?? Buffer.alloc(0);
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return [writeHeader(entry, content.length), Buffer.from(content), padding];
}

function writeHeader(entry: TarEntry, size: number): Buffer {
  if (Buffer.byteLength(entry.name) > 100) throw new RangeError(`name too long for ustar: ${entry.name}`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, offset: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset, 'ascii');
  };
  header.write(entry.name, 0);
  octal(entry.mode ?? 0o755, 100, 8);
  octal(0, 108, 8); // owner
  octal(0, 116, 8); // group
  octal(size, 124, 12);
  octal(0, 136, 12); // time
  header.write(typeFlag(entry), 156);
  header.write(entry.target ?? '', 157);
  header.write('ustar\x0000', 257, 'latin1');
  header.fill(' ', 148, 156); // the checksum counts as blanks
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return header;
}

const typeFlag = (entry: TarEntry): string =>
  entry.target !== undefined ? '2' : entry.content !== undefined ? '0' : '5';
