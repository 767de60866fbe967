/** Progress of long work on standard error: a line that changes on a terminal, plain lines elsewhere. */
import { type Colors, colorsFor, type Io } from '../io.js';
import { formatMilliseconds } from './times.js';

export interface Progress {
  /** Something is under way. On a terminal `detail` may change as often as it likes. */
  show(what: string, detail?: string): void;
  /** Runs one step and says how long it took; when it fails, that it did. A tick is for what has happened only. */
  step<T>(what: string | StepWords<T>, work: () => Promise<T>): Promise<T>;
  /** Clears what is under way. */
  end(): void;
}

/** For a step whose end is not sure. A text alone stands for all of it. */
export interface StepWords<T> {
  /** Shown meanwhile, and behind ✗ when it fails: `waiting for pods to end`. */
  readonly doing: string;
  readonly done: string;
  /** The part that is still open, shown behind …; undefined when it is done. */
  readonly open?: (result: T) => string | undefined;
}

/** For work within a step of another one. */
export const quietProgress: Progress = {
  show: () => undefined,
  step: (_what, work) => work(),
  end: () => undefined,
};

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const frameMilliseconds = 80;
const clearLine = '\r\u001b[K';

export function startProgress(io: Io): Progress {
  const paint = colorsFor(io, io.stderr);
  return io.stderr.isTTY === true ? onTerminal(io, paint) : onPipe(io, paint);
}

function onTerminal(io: Io, paint: Colors): Progress {
  let current = '';
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    frame = (frame + 1) % frames.length;
    const line = `${frames[frame]} ${current}`.slice(0, (io.stderr.columns ?? 80) - 1);
    io.stderr.write(`${clearLine}${paint.cyan(line.slice(0, 1))}${line.slice(1)}`);
  };
  const progress: Progress = {
    show(what, detail = '') {
      current = `${what} ${detail}`.trimEnd();
      timer ??= setInterval(draw, frameMilliseconds).unref();
    },
    step: (what, work) => runStep(io, paint, progress, what, work),
    end() {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      io.stderr.write(clearLine);
    },
  };
  return progress;
}

/** One line for each thing, when it begins to be something else; details are for terminals. */
function onPipe(io: Io, paint: Colors): Progress {
  let last = '';
  const progress: Progress = {
    show(what) {
      if (what !== last) io.stderr.write(`${what}\n`);
      last = what;
    },
    step: (what, work) => runStep(io, paint, { ...progress, show: () => undefined }, what, work),
    end: () => undefined,
  };
  return progress;
}

async function runStep<T>(
  io: Io,
  paint: Colors,
  progress: Pick<Progress, 'show' | 'end'>,
  what: string | StepWords<T>,
  work: () => Promise<T>,
): Promise<T> {
  const begin = performance.now();
  const words: StepWords<T> = typeof what === 'string' ? { doing: what, done: what } : what;
  let said = `${paint.red('✗')} ${words.doing}`;
  progress.show(words.doing);
  try {
    const result = await work();
    const open = words.open?.(result);
    said = open === undefined ? `${paint.green('✓')} ${words.done}` : `${paint.yellow('…')} ${open}`;
    return result;
  } finally {
    progress.end();
    const time = paint.dim(formatMilliseconds(performance.now() - begin));
    io.stderr.write(`${said} ${time}\n`);
  }
}
