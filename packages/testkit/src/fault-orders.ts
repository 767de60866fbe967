/**
 * What passes between a test and the agent under test: the agent writes down every fault point it reaches, and obeys one
 * order that the test may leave it. Both are files, since nothing else outlives a `kill -9`.
 */
import fs from 'node:fs';
import path from 'node:path';

/** What the packages under test reach between their steps; each has its own, equal type. */
export interface FaultPoints {
  reach(point: string): void;
}

/** What the agent does to itself when it reaches a point for the `skip + 1`st time from now on. */
export interface FaultOrder {
  readonly point: string;
  readonly skip: number;
  /** SIGSTOP freezes the agent within the step. */
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

const orderIn = (directory: string): string => path.join(directory, 'order');
const pointsIn = (directory: string): string => path.join(directory, 'points');

/** The agent's side. */
export function obeyOrders(directory: string): FaultPoints {
  fs.mkdirSync(directory, { recursive: true });
  return {
    reach(point) {
      fs.appendFileSync(pointsIn(directory), `${point}\n`);
      const order = readOrder(directory);
      if (order?.point !== point) return;
      if (order.skip > 0) return writeOrder(directory, { ...order, skip: order.skip - 1 });
      fs.unlinkSync(orderIn(directory));
      // A signal to oneself is delivered before kill(2) returns (POSIX), so not one more instruction is carried out.
      process.kill(process.pid, order.signal);
    },
  };
}

function readOrder(directory: string): FaultOrder | undefined {
  try {
    return JSON.parse(fs.readFileSync(orderIn(directory), 'utf8')) as FaultOrder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaced as a whole: the agent may be reading it. */
function writeOrder(directory: string, order: FaultOrder): void {
  fs.writeFileSync(`${orderIn(directory)}.new`, JSON.stringify(order));
  fs.renameSync(`${orderIn(directory)}.new`, orderIn(directory));
}

/** A place in a run: the point and how many of the same name came before. */
export type Place = Pick<FaultOrder, 'point' | 'skip'>;

/** The test's side. */
export interface FaultDesk {
  order(order: FaultOrder): void;
  /** Whether the last order has not been carried out. */
  isPending(): boolean;
  /** Withdraws the order, and forgets the points that were reached. */
  clear(): void;
  /** The points reached since `clear`, in order. */
  places(): Place[];
  /** Resolves when the agent has reached these points in this order since `clear`. @throws Error after 10 s */
  reached(...points: readonly string[]): Promise<void>;
}

export function openFaultDesk(directory: string): FaultDesk {
  fs.mkdirSync(directory, { recursive: true });
  const points = (): string[] => fs.readFileSync(pointsIn(directory), 'utf8').split('\n').slice(0, -1);
  return {
    order: (order) => writeOrder(directory, order),
    isPending: () => fs.existsSync(orderIn(directory)),
    clear() {
      fs.rmSync(orderIn(directory), { force: true });
      fs.writeFileSync(pointsIn(directory), '');
    },
    places: () => numberPlaces(points()),
    reached: (...wanted) =>
      untilWritten(pointsIn(directory), wanted.join(', '), () => includesInOrder(points(), wanted)),
  };
}

function includesInOrder(points: readonly string[], wanted: readonly string[]): boolean {
  let at = -1;
  return wanted.every((point) => (at = points.indexOf(point, at + 1)) >= 0);
}

/** Looks whenever something is written to a file. */
async function untilWritten(file: string, what: string, look: () => boolean): Promise<void> {
  const deadline = AbortSignal.timeout(10_000);
  const watcher = fs.watch(file);
  try {
    await new Promise<void>((resolve, reject) => {
      const check = (): void => void (look() && resolve());
      deadline.addEventListener('abort', () => reject(new Error(`no sign of ${what}`)), { once: true });
      watcher.on('change', check);
      check();
    });
  } finally {
    watcher.close();
  }
}

function numberPlaces(points: readonly string[]): Place[] {
  const seen = new Map<string, number>();
  return points.map((point) => {
    const skip = seen.get(point) ?? 0;
    seen.set(point, skip + 1);
    return { point, skip };
  });
}
