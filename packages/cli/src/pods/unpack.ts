/** A tar stream to files. */
import { Writable } from 'node:stream';
import { extract, type TarOptionsWithAliasesSyncNoFile } from 'tar';

/**
 * Unpacks what is written to it; `finish` says that all of it is on the disk. The parser of `tar` is no stream of Node: it may emit
 * `finish` inside of `end()`, and a `pipeline()` that ends in it then never settles. So it writes files synchronously, behind a
 * Writable of Node's.
 */
export function createUnpacker(options: Omit<TarOptionsWithAliasesSyncNoFile, 'sync'>): Writable {
  const unpack = extract({ ...options, sync: true });
  let problem: Error | undefined;
  unpack.on('error', (error) => (problem ??= error as Error));
  const attempt = (work: () => unknown, done: (error?: Error) => void): void => {
    try {
      work();
    } catch (error) {
      problem ??= error as Error;
    }
    done(problem);
  };
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => attempt(() => unpack.write(chunk), done),
    final: (done) => attempt(() => unpack.end(), done),
  });
}
