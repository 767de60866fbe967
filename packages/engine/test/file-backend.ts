/**
 * A backend that the engine has never heard of: directories, and settings in a file of each, as `NAME=VALUE # podwire`.
 * A setting dies with its directory. A directory goes at once by a rename, and its content is deleted later.
 */
import fs from 'node:fs';
import path from 'node:path';
import type {
  Backend,
  Batch,
  DeferredDeletion,
  Failure,
  Kind,
  MarkedThing,
  Observed,
  Repair,
  Resource,
  Session,
  SessionContext,
} from '@podwire/engine';

export interface Directory {
  readonly kind: 'directory';
  readonly name: string;
}

export interface Setting {
  readonly kind: 'setting';
  readonly directory: string;
  readonly name: string;
  readonly value: string;
}

interface FileResources {
  directory: Directory;
  setting: Setting;
}

type FileResource = FileResources[keyof FileResources];

declare module '@podwire/engine' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- this is how it is extended
  interface ResourceKinds extends FileResources {}
}

const directoryKey = (name: string): string => `directory ${name}`;
const settingKey = (directory: string, name: string): string => `setting ${directory}/${name}`;

const directory: Kind<Directory, boolean> = {
  kind: 'directory',
  check: () => undefined,
  backend: 'files',
  batch: 'directories',
  place: () => 'host',
  key: ({ name }) => directoryKey(name),
  describe: ({ name }) => `directory ${name}`,
  removal: 'deferred',
  inPlace: false,
  compare: ({ name }, isThere) => (isThere ? undefined : { missing: `there is no directory ${name}` }),
};

const setting: Kind<Setting, string | undefined> = {
  kind: 'setting',
  check: () => undefined,
  backend: 'files',
  batch: 'settings',
  place: () => 'host',
  key: ({ directory, name }) => settingKey(directory, name),
  describe: ({ directory, name, value }) => `setting ${name}=${value} in ${directory}`,
  diesWith: ({ directory }) => directoryKey(directory),
  inPlace: true,
  independent: true,
  compare({ name, value }, found) {
    if (found === undefined) return { missing: `there is no ${name}` };
    return found === value ? undefined : `${name} is ${found}`;
  },
};

/** The compiler finds a kind that is declared and not here. */
const kinds = { directory, setting } satisfies { [K in keyof FileResources]: Kind<FileResources[K]> };

/** Directories of ours have this file. */
const markFile = '.podwire';
const mark = ' # podwire';
const trash = '.deleted-';

export function createFileBackend(root: string): Backend {
  return {
    name: 'files',
    kinds: Object.values(kinds),
    open: (_owned, context) => new FileSession(root, context),
    isAbsent: (error) => (error as NodeJS.ErrnoException).code === 'ENOENT',
    isConflict: (error) => (error as NodeJS.ErrnoException).code === 'EEXIST',
    deferred: createDeletion(root),
    close: () => undefined,
  };
}

function createDeletion(root: string): DeferredDeletion {
  const trashes = (): [number, string][] =>
    fs
      .readdirSync(root)
      .filter((name) => name.startsWith(trash))
      .map((name) => [Number(name.slice(trash.length).split('-')[0]), path.join(root, name)]);
  return {
    batches: 8,
    batchSize: 2,
    list: () => [...new Set(trashes().map(([batch]) => batch))],
    async delete(batch) {
      for (const [of, file] of trashes()) if (of === batch) fs.rmSync(file, { recursive: true });
      return Promise.resolve();
    },
  };
}

class FileSession implements Session {
  readonly #root: string;
  readonly #context: SessionContext;

  constructor(root: string, context: SessionContext) {
    this.#root = root;
    this.#context = context;
  }

  reaches(): boolean {
    return true;
  }

  async create({ resources }: Batch): Promise<Failure[]> {
    return this.#each(resources, (resource) => {
      if (resource.kind === 'directory') return this.#makeDirectory(resource);
      const lines = this.#read(resource.directory);
      if (valueIn(lines, resource.name) !== undefined) throw failure('EEXIST', resource.name);
      this.#write(resource.directory, [...lines, lineOf(resource)]);
    });
  }

  async repair(_batch: Batch, repairs: readonly Repair[]): Promise<Failure[]> {
    return this.#each(
      repairs.map(({ resource }) => resource),
      (resource) => {
        if (resource.kind === 'directory') return this.#makeDirectory(resource);
        const others = this.#read(resource.directory).filter((line) => nameOf(line) !== resource.name);
        this.#write(resource.directory, [...others, lineOf(resource)]);
      },
    );
  }

  async remove({ resources }: Batch): Promise<Failure[]> {
    return this.#each(resources, (resource) => {
      if (resource.kind === 'directory') this.#deleteDirectory(resource.name);
      else this.#deleteSetting(resource.directory, resource.name);
    });
  }

  /** Settings of one directory, whose file is replaced. */
  async exchange(add: readonly Resource[], remove: readonly Resource[]): Promise<Failure[]> {
    const [wanted, unwanted] = [add as readonly Setting[], remove as readonly Setting[]];
    const all = [...wanted, ...unwanted];
    const [first] = all;
    const foreign = all.find(({ kind, directory }) => kind !== 'setting' || directory !== first?.directory);
    if (foreign !== undefined)
      return Promise.resolve([{ resource: foreign, error: failure('EXDEV', foreign.name) }]);
    const names = new Set(all.map(({ name }) => name));
    const others = this.#read(first!.directory).filter((line) => !names.has(nameOf(line)));
    this.#write(first!.directory, [...others, ...wanted.map(lineOf)]);
    return Promise.resolve([]);
  }

  async observe(resources: readonly Resource[]): Promise<Observed> {
    await new Promise(setImmediate); // a backend may be behind a socket
    return new Map(resources.map((resource) => [resource, { found: this.#look(resource as FileResource) }]));
  }

  #look(resource: FileResource): unknown {
    if (resource.kind === 'directory') return fs.existsSync(this.#path(resource.name, markFile));
    return valueIn(this.#read(resource.directory), resource.name);
  }

  async listMarked(): Promise<MarkedThing[]> {
    const names = fs.readdirSync(this.#root).filter((name) => !name.startsWith(trash));
    const marked = names.flatMap((name) => {
      const settings = this.#read(name).filter((line) => line.endsWith(mark));
      const own = fs.existsSync(this.#path(name, markFile));
      return [
        ...settings.map((line) => ({
          key: settingKey(name, nameOf(line)),
          what: `setting ${nameOf(line)} in ${name}`,
        })),
        ...(own ? [{ key: directoryKey(name), what: directoryKey(name) }] : []),
      ];
    });
    return Promise.resolve(marked);
  }

  async prune(things: readonly MarkedThing[]): Promise<Map<MarkedThing, unknown>> {
    const failures = new Map<MarkedThing, unknown>();
    for (const thing of things) {
      const [sort, rest = ''] = thing.key.split(' ');
      const [directory = '', name = ''] = rest.split('/');
      try {
        if (sort === 'directory') this.#deleteDirectory(directory);
        else this.#deleteSetting(directory, name);
      } catch (error) {
        failures.set(thing, error);
      }
    }
    return Promise.resolve(failures);
  }

  close(): void {
    // Nothing is open.
  }

  #path(...parts: string[]): string {
    return path.join(this.#root, ...parts);
  }

  #makeDirectory({ name }: Directory): void {
    fs.mkdirSync(this.#path(name));
    fs.writeFileSync(this.#path(name, markFile), '');
  }

  #deleteDirectory(name: string): void {
    if (!fs.existsSync(this.#path(name, markFile))) return;
    const batch = this.#context.defer(1);
    fs.renameSync(this.#path(name), this.#path(`${trash}${batch}-${name}-${String(performance.now())}`));
  }

  #deleteSetting(directory: string, name: string): void {
    const lines = this.#read(directory);
    if (!lines.some((line) => nameOf(line) === name && line.endsWith(mark))) return;
    this.#write(
      directory,
      lines.filter((line) => nameOf(line) !== name),
    );
  }

  #read(directory: string): string[] {
    const file = this.#path(directory, 'settings');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  }

  #write(directory: string, lines: readonly string[]): void {
    const file = this.#path(directory, 'settings');
    if (lines.length === 0) return fs.rmSync(file, { force: true });
    fs.writeFileSync(`${file}.new`, lines.map((line) => `${line}\n`).join(''));
    fs.renameSync(`${file}.new`, file);
  }

  async #each(resources: readonly Resource[], work: (resource: FileResource) => void): Promise<Failure[]> {
    const failures = resources.flatMap((resource) => {
      try {
        work(resource as FileResource);
        return [];
      } catch (error) {
        return [{ resource, error }];
      }
    });
    return Promise.resolve(failures);
  }
}

const lineOf = ({ name, value }: Setting): string => `${name}=${value}${mark}`;
const nameOf = (line: string): string => line.slice(0, line.indexOf('='));

function valueIn(lines: readonly string[], name: string): string | undefined {
  const line = lines.find((one) => nameOf(one) === name);
  return line?.slice(name.length + 1).replace(mark, '');
}

function failure(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}
