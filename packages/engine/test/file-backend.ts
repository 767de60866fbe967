/**
 * A backend that the engine has never heard of: directories, and settings in a file of each, as `NAME=VALUE # podwire`.
 * A setting dies with its directory. A directory goes at once by a rename, and its content is deleted later.
 */
import fs from 'node:fs';
import path from 'node:path';
import { groupBy } from '@podwire/platform';
import type {
  Backend,
  Batch,
  ChangeFeed,
  DeferredDeletion,
  Exchange,
  Failure,
  Hint,
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
  transactional: true,
  key: ({ directory, name }) => settingKey(directory, name),
  describe: ({ directory, name, value }) => `setting ${name}=${value} in ${directory}`,
  diesWith: ({ directory }) => directoryKey(directory),
  touches: ({ directory, name }) => [settingKey(directory, name), directoryKey(directory)],
  inPlace: true,
  independent: true,
  compare({ name, value }, found) {
    if (found === undefined) return { missing: `there is no ${name}` };
    return found === value ? undefined : `${name} is ${found}`;
  },
  shownBy: ({ name }, now) => (now as ReadonlyMap<string, string>).get(name),
};

/** The compiler finds a kind that is declared and not here. */
const kinds = { directory, setting } satisfies { [K in keyof FileResources]: Kind<FileResources[K]> };

/** Directories of ours have this file. */
const markFile = '.podwire';
const mark = ' # podwire';
const trash = '.deleted-';

export function createFileBackend(root: string): Backend {
  /** The text that this program has left in each directory; others did whatever differs from it. */
  const left = new Map<string, string>();
  return {
    name: 'files',
    kinds: Object.values(kinds),
    open: (_owned, context) => new FileSession(root, left, context),
    isAbsent: (error) => (error as NodeJS.ErrnoException).code === 'ENOENT',
    isConflict: (error) => (error as NodeJS.ErrnoException).code === 'EEXIST',
    deferred: createDeletion(root),
    changes: [watchFiles(root, left)],
    close: () => undefined,
  };
}

function watchFiles(root: string, left: Map<string, string>): ChangeFeed {
  const read = (): Hint[] =>
    [...new Set([...left.keys(), ...fs.readdirSync(root)])].flatMap((name) => {
      const [before, now] = [left.get(name) ?? '', readSettings(root, name)];
      if (before === now) return [];
      left.set(name, now);
      return hintsOf(name, linesOf(before), linesOf(now));
    });
  return {
    place: 'host',
    open() {
      read();
      return { read: () => ({ hints: read(), more: false }), close: () => undefined };
    },
  };
}

function hintsOf(directory: string, before: readonly string[], now: readonly string[]): Hint[] {
  const differing = [...before, ...now].filter((line) => !before.includes(line) || !now.includes(line));
  return [...new Set(differing.map(nameOf))].map((name) => {
    const value = valueOf(now.find((line) => nameOf(line) === name));
    return {
      keys: [settingKey(directory, name)],
      by: 'an editor',
      ...(value === undefined ? {} : { now: new Map([[name, value]]) }),
      ...(now.includes(`${name}=${value}${mark}`) ? { marked: true } : {}),
    };
  });
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
    list: async () => Promise.resolve([...new Set(trashes().map(([batch]) => batch))]),
    async delete(batch) {
      for (const [of, file] of trashes()) if (of === batch) fs.rmSync(file, { recursive: true });
      return Promise.resolve();
    },
  };
}

class FileSession implements Session {
  readonly #root: string;
  readonly #left: Map<string, string>;
  readonly #context: SessionContext;

  constructor(root: string, left: Map<string, string>, context: SessionContext) {
    this.#root = root;
    this.#left = left;
    this.#context = context;
  }

  async reaches(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async create({ resources }: Batch): Promise<Failure[]> {
    return this.#each(resources, (resource, lines) => {
      if (resource.kind === 'directory') return this.#makeDirectory(resource);
      if (lines.has(resource.name)) throw failure('EEXIST', resource.name);
      lines.set(resource.name, lineOf(resource));
    });
  }

  async repair(_batch: Batch, repairs: readonly Repair[]): Promise<Failure[]> {
    return this.#each(
      repairs.map(({ resource }) => resource),
      (resource, lines) => {
        if (resource.kind === 'directory') this.#makeDirectory(resource);
        else lines.set(resource.name, lineOf(resource));
      },
    );
  }

  async remove({ resources }: Batch): Promise<Failure[]> {
    return this.#each(resources, (resource, lines) => {
      if (resource.kind === 'directory') this.#deleteDirectory(resource.name);
      else if (lines.get(resource.name)?.endsWith(mark)) lines.delete(resource.name);
    });
  }

  /** Nothing is written before all of it is known to be right. */
  async exchange({ add, replace, remove }: Exchange): Promise<Failure[]> {
    const [fresh, other, unwanted] = [add, replace, remove].map((all) => all as readonly Setting[]);
    const wanted = [...other!, ...fresh!];
    const files = new Map([...wanted, ...unwanted!].map((one) => [one.directory, this.#read(one.directory)]));
    for (const { directory, name } of unwanted!) files.get(directory)!.delete(name);
    const failures = [
      ...wanted.filter(({ value }) => value.includes('\n')).map((resource) => fail('EINVAL', resource)),
      ...fresh!
        .filter(({ directory, name }) => files.get(directory)!.has(name))
        .map((resource) => fail('EEXIST', resource)),
    ];
    if (failures.length > 0) return Promise.resolve(failures);
    for (const one of wanted) files.get(one.directory)!.set(one.name, lineOf(one));
    for (const [directory, lines] of files) this.#write(directory, lines);
    return Promise.resolve([]);
  }

  async observe(resources: readonly Resource[]): Promise<Observed> {
    await new Promise(setImmediate); // a backend may be behind a socket
    const files = new Map<string, Lines>();
    const read = (name: string): Lines => {
      if (!files.has(name)) files.set(name, this.#read(name));
      return files.get(name)!;
    };
    const look = (resource: FileResource): unknown =>
      resource.kind === 'directory'
        ? fs.existsSync(this.#path(resource.name, markFile))
        : valueOf(read(resource.directory).get(resource.name));
    return new Map(resources.map((resource) => [resource, { found: look(resource as FileResource) }]));
  }

  async listMarked(): Promise<MarkedThing[]> {
    const names = fs.readdirSync(this.#root).filter((name) => !name.startsWith(trash));
    const marked = names.flatMap((name) => {
      const settings = [...this.#read(name).values()].filter((line) => line.endsWith(mark));
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
    const byResource = new Map(things.map((thing) => [resourceOf(thing), thing]));
    const failures = await this.remove({
      backend: 'files',
      name: '',
      place: '',
      resources: [...byResource.keys()],
    });
    return new Map(failures.map(({ resource, error }) => [byResource.get(resource)!, error]));
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
    this.#left.delete(name);
    fs.renameSync(this.#path(name), this.#path(`${trash}${batch}-${name}-${String(performance.now())}`));
  }

  #read(directory: string): Lines {
    return new Map(linesOf(readSettings(this.#root, directory)).map((line) => [nameOf(line), line]));
  }

  #write(directory: string, lines: Lines): void {
    const file = this.#path(directory, 'settings');
    const text = [...lines.values()].map((line) => `${line}\n`).join('');
    this.#left.set(directory, text);
    if (text === '') return fs.rmSync(file, { force: true });
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
  }

  /** Each resource for itself, and each file once. */
  async #each(
    resources: readonly Resource[],
    work: (resource: FileResource, lines: Lines) => void,
  ): Promise<Failure[]> {
    const failures: Failure[] = [];
    const files = groupBy(resources as readonly FileResource[], (one) =>
      one.kind === 'setting' ? one.directory : '',
    );
    for (const [directory, group] of files) {
      const lines = directory === '' ? new Map<string, string>() : this.#read(directory);
      const before = new Map(lines);
      for (const resource of group) {
        try {
          work(resource, lines);
        } catch (error) {
          failures.push({ resource, error });
        }
      }
      const isSame =
        lines.size === before.size && [...lines].every(([name, line]) => before.get(name) === line);
      if (!isSame) this.#write(directory, lines);
    }
    return Promise.resolve(failures);
  }
}

/** The lines of a file, by the names of their settings. */
type Lines = Map<string, string>;

function resourceOf({ key }: MarkedThing): Resource {
  const [sort, rest = ''] = key.split(' ');
  const [directory = '', name = ''] = rest.split('/');
  return sort === 'directory'
    ? { kind: sort, name: directory }
    : { kind: 'setting', directory, name, value: '' };
}

function readSettings(root: string, directory: string): string {
  const file = path.join(root, directory, 'settings');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
}

const linesOf = (text: string): string[] => text.split('\n').filter(Boolean);

const lineOf = ({ name, value }: Setting): string => `${name}=${value}${mark}`;
const nameOf = (line: string): string => line.slice(0, line.indexOf('='));

const valueOf = (line: string | undefined): string | undefined =>
  line?.slice(line.indexOf('=') + 1).replace(mark, '');

function failure(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}

const fail = (code: string, resource: Setting): Failure => ({
  resource,
  error: failure(code, resource.name),
});
