/** What a demo has made, written down as it is made: for its end, and for who must end it later. */
import fs from 'node:fs';
import path from 'node:path';

export interface LedgerProcess {
  readonly what: string;
  readonly pid: number;
  /** Clock ticks since boot (proc(5), stat field 22): tells the process from a later one with its id. */
  readonly startTime: string;
}

export interface Ledger {
  /** `podwire-demo-PID`: the name of the host's namespace and the beginning of all others. */
  readonly name: string;
  /** Whoever runs the demo. */
  readonly owner: LedgerProcess;
  readonly directory: string;
  readonly namespaces: readonly string[];
  readonly processes: readonly LedgerProcess[];
  readonly kept: boolean;
}

/** A ledger that grows, in its directory. */
export interface OpenLedger {
  readonly current: Ledger;
  note(change: {
    readonly namespace?: string;
    readonly process?: { readonly what: string; readonly pid: number };
    readonly kept?: boolean;
  }): void;
}

export const demoPrefix = 'podwire-demo-';
const parentDirectory = '/run';
const ledgerFile = 'demo.json';

/** Begins a demo: its directory (0700) and the first page. */
export function openLedger(pid: number): OpenLedger {
  const name = `${demoPrefix}${pid}`;
  const directory = path.join(parentDirectory, name);
  fs.mkdirSync(directory, { mode: 0o700 });
  const owner = describeProcess('demo', pid);
  let current: Ledger = { name, owner, directory, namespaces: [], processes: [], kept: false };
  const write = (next: Ledger): void => {
    const file = path.join(directory, ledgerFile);
    fs.writeFileSync(`${file}.new`, JSON.stringify(next));
    fs.renameSync(`${file}.new`, file);
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
        processes: child === undefined ? processes : [...processes, describeProcess(child.what, child.pid)],
        kept: kept ?? current.kept,
      });
    },
  };
}

/** The demos of this machine that have not ended: running ones, kept ones and broken ones. */
export function findLedgers(): Ledger[] {
  const names = fs.readdirSync(parentDirectory).filter((name) => name.startsWith(demoPrefix));
  return names.flatMap((name) => {
    try {
      const text = fs.readFileSync(path.join(parentDirectory, name, ledgerFile), 'utf8');
      return [JSON.parse(text) as Ledger];
    } catch {
      return []; // not a demo's directory, or one that ends at this moment
    }
  });
}

function describeProcess(what: string, pid: number): LedgerProcess {
  return { what, pid, startTime: readStartTime(pid) ?? 'ended' };
}

export function isAlive({ pid, startTime }: LedgerProcess): boolean {
  return readStartTime(pid) === startTime;
}

/** Undefined when it has ended, also when nobody has collected its end yet. */
function readStartTime(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; the fields after it count from state, the third.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
