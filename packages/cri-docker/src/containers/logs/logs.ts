/**
 * Logs of containers in the format of the interface. Docker keeps what programs write by itself, also while this service is
 * away; the files are written from that, and each line has Docker's time. So the last line of a file says where to go on.
 */
import { CriError } from '@podwire/cri';
import { describeError } from '@podwire/errors';
import { type Clock, type FaultPoints, type Log, pause } from '@podwire/platform';
import { type Docker, type InspectedContainer, isNotFound } from '../../docker/index.js';
import { containerType, labelKeys } from '../../labels.js';
import type { Owners } from '../../owners.js';
import { listOwn } from '../lookup.js';
import { isLink, type LogFile, openLogFile, readPosition } from './file.js';
import { renderLine, skipKnown, toSince } from './format.js';
import { readMessages } from './read-messages.js';

interface LogEnvironment {
  readonly docker: Docker;
  readonly owners: Owners;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: FaultPoints;
}

/** A log that is being written. */
interface Following {
  readonly end: AbortController;
  done: Promise<unknown>;
  file?: LogFile;
  /** It broke off, nothing has come since, and that was said: an engine may be away for hours, with hundreds of containers. */
  isBroken?: boolean;
}

/** Milliseconds that a call about an ended container waits for its log. */
const settlePatience = 1_000;
/** Milliseconds before a log that broke off is gone on with. */
const retryPause = 1_000;

export class ContainerLogs {
  readonly #environment: LogEnvironment;
  readonly #all = new Map<string, Following>();

  constructor(environment: LogEnvironment) {
    this.#environment = environment;
  }

  /** Makes the file, so that it is there when the container starts. @throws CriError */
  async prepare(container: InspectedContainer): Promise<void> {
    const file = logPathOf(container);
    if (file === '') return;
    const made = openLogFile(file);
    try {
      await made.opened;
    } catch (cause) {
      throw new CriError('INTERNAL', `the log ${file} cannot be written: ${describeError(cause)}`, { cause });
    } finally {
      await made.close();
    }
  }

  /** Begins to write; once for each container. */
  follow(container: InspectedContainer): void {
    const file = logPathOf(container);
    if (file === '' || this.#all.has(container.Id)) return;
    const following: Following = { end: new AbortController(), done: Promise.resolve() };
    this.#all.set(container.Id, following);
    following.done = followLog(this.#environment, container, file, following).finally(() =>
      this.#all.delete(container.Id),
    );
  }

  /** Resolves when all that an ended container wrote is in its log, or after some patience. */
  async settle(id: string): Promise<void> {
    const following = this.#all.get(id);
    if (following === undefined) return;
    const over = new AbortController();
    await Promise.race([following.done, pause(this.#environment.clock, settlePatience, over.signal)]);
    over.abort();
  }

  /** Before a container is removed: waits for the rest of its log, and forgets it. */
  async finish(id: string): Promise<void> {
    await this.settle(id);
    const following = this.#all.get(id);
    following?.end.abort();
    await following?.done;
  }

  /** @throws CriError NOT_FOUND, FAILED_PRECONDITION where no log is kept */
  async reopen({ Id, State }: InspectedContainer): Promise<void> {
    if (!State.Running) throw new CriError('FAILED_PRECONDITION', `the container ${Id} is not running`);
    await this.#all.get(Id)?.file?.reopen();
  }

  /** Goes on with the logs of all containers, after a start of the service. */
  async resume(signal: AbortSignal): Promise<void> {
    const filters = { label: [`${labelKeys.type}=${containerType}`] };
    for (const { Id } of await listOwn(this.#environment, filters, signal)) {
      const found = await this.#environment.docker
        .inspectContainer(Id, {}, { signal })
        .catch(() => undefined);
      if (found === undefined || found.State.Status === 'created') continue;
      // Of a container that was taken over: dockershim's log is a link to Docker's own file, which is whole already.
      if (!(await isLink(logPathOf(found)))) this.follow(found);
    }
  }

  async close(): Promise<void> {
    const followed = [...this.#all.values()];
    for (const { end } of followed) end.abort();
    await Promise.all(followed.map(({ done }) => done));
  }
}

const logPathOf = ({ Config }: InspectedContainer): string => Config.Labels?.[labelKeys.logPath] ?? '';

/** Until the container has ended and its log is whole, whatever happens to the engine meanwhile. Never rejects. */
async function followLog(
  environment: LogEnvironment,
  container: InspectedContainer,
  path: string,
  following: Following,
): Promise<void> {
  const { signal } = following.end;
  const { clock, log } = environment;
  while (!signal.aborted) {
    try {
      await copyLog(environment, container, path, following);
      following.isBroken = false;
      if (!(await isRunning(environment.docker, container.Id, signal))) return;
    } catch (error) {
      if (signal.aborted || isNotFound(error)) return;
      const why = describeError(error);
      if (following.isBroken !== true)
        log.warn({ container: container.Id, why }, 'the log of a container broke off');
      following.isBroken = true;
    }
    await pause(clock, retryPause, signal);
  }
}

async function isRunning(docker: Docker, id: string, signal: AbortSignal): Promise<boolean> {
  return (await docker.inspectContainer(id, {}, { signal })).State.Running;
}

/** Everything from where the file ends on; ends with the container. */
async function copyLog(
  { docker, faults }: LogEnvironment,
  { Id, Config }: InspectedContainer,
  path: string,
  following: Following,
): Promise<void> {
  const { signal } = following.end;
  const file = openLogFile(path);
  following.file = file;
  try {
    await file.opened;
    const position = await readPosition(path);
    const since = position === undefined ? undefined : toSince(position);
    const isNew = skipKnown(position);
    const stream = await docker.logs(Id, { since, follow: true }, { signal });
    for await (const messages of readMessages(stream, Config.Tty)) {
      const lines = messages.filter(isNew).map(renderLine);
      if (lines.length === 0) continue;
      await file.append(Buffer.concat(lines));
      following.isBroken = false;
      faults.reach('log:written');
    }
  } finally {
    delete following.file;
    await file.close();
  }
}
