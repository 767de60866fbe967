/** Where the log of a daemon goes: the journal, a file that is rotated, or standard output as it is. */
import fs from 'node:fs';
import pino, { type DestinationStream } from 'pino';

/** Standard output. */
const stdout = 1;

/**
 * - `JOURNAL_STREAM` names standard output: each line gets the priority of its level in front, for `journalctl -p`
 *   (sd-daemon(3)).
 * - `PODWIRE_LOG_FILE`: lines go there, and the file is rotated. `podwire up` sets it for what it starts, since a file in
 *   /run is memory.
 * - Otherwise standard output. A service manager or container engine sees to its size.
 */
export function openLogDestination(env: Readonly<Record<string, string | undefined>>): DestinationStream {
  const { JOURNAL_STREAM: journal, PODWIRE_LOG_FILE: file } = env;
  const plain = (): DestinationStream => pino.destination({ dest: stdout, sync: true });
  if (journal !== undefined && isStream(journal, stdout)) return withPriorities(plain());
  return file === undefined || file === '' ? plain() : openRotatedLog(file);
}

/** `DEVICE:INODE` (systemd.exec(5)); a program that was started with other output has the variable too. */
function isStream(journal: string, fd: number): boolean {
  const { dev, ino } = fs.fstatSync(fd);
  return journal === `${dev}:${ino}`;
}

/** As syslog(3) counts. */
const priorities: Readonly<Record<string, number>> = {
  fatal: 2,
  error: 3,
  warn: 4,
  info: 6,
  debug: 7,
  trace: 7,
};

export function withPriorities(inner: DestinationStream): DestinationStream {
  return {
    write(line) {
      const [, level = 'info'] = /^\{"level":"(\w+)"/.exec(line) ?? [];
      inner.write(`<${priorities[level] ?? priorities['info']}>${line}`);
    },
  };
}

export interface RotationLimits {
  readonly maxBytes: number;
  /** With the one that is written to. */
  readonly maxFiles: number;
}

const limits: RotationLimits = { maxBytes: 8 << 20, maxFiles: 3 };

/** `FILE`, `FILE.1` (the one before), `FILE.2`. Lines are written at once: a crash loses none. */
export function openRotatedLog(
  file: string,
  { maxBytes, maxFiles }: RotationLimits = limits,
): DestinationStream {
  const open = (): number => fs.openSync(file, 'a', 0o600);
  let fd = open();
  let bytes = fs.fstatSync(fd).size;
  const rotate = (): void => {
    for (let number = maxFiles - 1; number > 0; number--) {
      const from = number === 1 ? file : `${file}.${number - 1}`;
      if (fs.existsSync(from)) fs.renameSync(from, `${file}.${number}`);
    }
    const before = fd;
    fd = open();
    fs.closeSync(before);
    bytes = 0;
  };
  return {
    write(line) {
      const length = Buffer.byteLength(line);
      // A disk that is full, or a directory that is gone, must not end the daemon.
      try {
        if (bytes > 0 && bytes + length > maxBytes) rotate();
        fs.writeSync(fd, line);
        bytes += length;
      } catch {
        return;
      }
    },
  };
}
