/**
 * Contents of files when they could last be read, for a start with a file that is broken: without them, the policies of
 * the file would be gone until it is corrected. Copies in `.last-good` beside the files.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { readIfExists } from '@podwire/platform';
import { atOnce, type Folder, type ObjectFile, revisionOf, stampOf } from './folder.js';

export class LastGood {
  readonly #directory: string;
  /** The version of each file that is kept. */
  readonly #kept = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = path.join(directory, '.last-good');
  }

  readonly load = (file: string): Promise<string | undefined> => readIfExists(this.#place(file));

  /** Copies what is good and new, and drops what is gone. @throws where the directory cannot be written */
  async keep({ files }: Folder): Promise<void> {
    const fresh = [...files.values()].filter(
      (file) => file.problems.length === 0 && this.#kept.get(file.path) !== file.stamp,
    );
    if (fresh.length > 0) await fs.mkdir(this.#directory, { recursive: true, mode: 0o700 });
    for (let start = 0; start < fresh.length; start += atOnce)
      await Promise.all(fresh.slice(start, start + atOnce).map((file) => this.#copy(file)));
    for (const file of this.#kept.keys())
      if (!files.has(file)) {
        await fs.rm(this.#place(file), { force: true });
        this.#kept.delete(file);
      }
  }

  async #copy({ path: file, stamp, revision }: ObjectFile): Promise<void> {
    const place = this.#place(file);
    if ((await revisionOf(place)) !== revision) {
      const temporary = `${place}.new`;
      await fs.copyFile(file, temporary);
      // It has changed in between, perhaps for the worse: the next look tells.
      if ((await stampOf(file))?.stamp !== stamp) return;
      // Its time says which version it is.
      await fs.utimes(temporary, (revision + 0.5) / 1e6, (revision + 0.5) / 1e6);
      await fs.rename(temporary, place);
    }
    this.#kept.set(file, stamp);
  }

  #place(file: string): string {
    return path.join(this.#directory, path.basename(file));
  }
}
