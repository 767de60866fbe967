import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A temporary directory for a cache, and what is in its results. */
export interface CacheDirectory {
  readonly directory: string;
  names(): string[];
  read(name: string): Record<string, unknown>;
  write(name: string, content: string): void;
  remove(): void;
}

export function createCacheDirectory(): CacheDirectory {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cni-cache-'));
  const results = path.join(directory, 'results');
  return {
    directory,
    names: () => (fs.existsSync(results) ? fs.readdirSync(results).toSorted() : []),
    read: (name) => JSON.parse(fs.readFileSync(path.join(results, name), 'utf8')) as Record<string, unknown>,
    write: (name, content) => {
      fs.mkdirSync(results, { recursive: true });
      fs.writeFileSync(path.join(results, name), content);
    },
    remove: () => fs.rmSync(directory, { recursive: true }),
  };
}
