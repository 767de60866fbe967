/** Everything a demo has made, written down as it is made: for its end, and for a later call that must end it. */
import fs from 'node:fs';
import path from 'node:path';
import { markProcess, type ProcessMark } from '@podwire/linux';
import { replaceFileSync } from '@podwire/platform';

export interface DemoRecord {
  /** `podwire-demo-PID`: the name of the host's namespace and the beginning of all others. */
  readonly name: string;
  /** The process that runs the demo. */
  readonly owner: ProcessMark;
  readonly directory: string;
  readonly namespaces: readonly string[];
  readonly processes: readonly ProcessMark[];
  readonly kept: boolean;
}

/** A record that grows, in its directory. */
export interface OpenRecord {
  readonly current: DemoRecord;
  note(change: {
    readonly namespace?: string;
    readonly process?: { readonly what: string; readonly pid: number };
    readonly kept?: boolean;
  }): void;
}

export const demoPrefix = 'podwire-demo-';
const parentDirectory = '/run';
const recordFile = 'demo.json';

/** Begins a demo: its directory (0700) and the first page. */
export function openRecord(pid: number): OpenRecord {
  const name = `${demoPrefix}${pid}`;
  const directory = path.join(parentDirectory, name);
  fs.mkdirSync(directory, { mode: 0o700 });
  const owner = markProcess('demo', pid);
  let current: DemoRecord = { name, owner, directory, namespaces: [], processes: [], kept: false };
  const write = (next: DemoRecord): void => {
    replaceFileSync(path.join(directory, recordFile), JSON.stringify(next));
    current = next;
  };
  write(current);
  return {
    get current() {
      return current;
    },
    note({ namespace, process: child, kept }) {
      const { namespaces, processes } = current;
      write({
        ...current,
        namespaces: namespace === undefined ? namespaces : [...namespaces, namespace],
        processes: child === undefined ? processes : [...processes, markProcess(child.what, child.pid)],
        kept: kept ?? current.kept,
      });
    },
  };
}

/** The demos of this machine that have not ended: running ones, kept ones and broken ones. */
export function findRecords(): DemoRecord[] {
  const names = fs.readdirSync(parentDirectory).filter((name) => name.startsWith(demoPrefix));
  return names.flatMap((name) => {
    try {
      const text = fs.readFileSync(path.join(parentDirectory, name, recordFile), 'utf8');
      return [JSON.parse(text) as DemoRecord];
    } catch {
      return []; // not a demo's directory, or one that ends at this moment
    }
  });
}
