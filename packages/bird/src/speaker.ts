/** What keeps the daemon's configuration as the cluster wants it. */
import fs from 'node:fs';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import type { Log } from '@podwire/platform';
import type { BgpSession, BgpView } from './contract.js';
import { askBird } from './control.js';
import { renderBirdConfig } from './render.js';
import { readSessions } from './sessions.js';

export interface BgpSpeakerOptions {
  /** The daemon's configuration: written here, mode 0600, since it may hold passwords. */
  readonly configFile: string;
  readonly socketFile: string;
  /** Milliseconds for one answer of the daemon. */
  readonly deadline: number;
  readonly log: Log;
}

export interface BgpSpeaker {
  /**
   * Makes the daemon announce this. Sessions stay up: only what differs is told to neighbours. Costs a comparison of text when
   * nothing changed. One call at a time; a later view that comes meanwhile replaces those that wait.
   * @throws PodwireError CONFIG_INVALID, BGP_REFUSED; the daemon then goes on as before
   */
  apply(view: BgpView, signal?: AbortSignal): Promise<void>;
  /** How the sessions with the neighbours of the last view are. @throws PodwireError BGP_REFUSED */
  sessions(signal?: AbortSignal): Promise<BgpSession[]>;
}

/** Writes what the daemon is to be started with; it may have no view of the cluster yet. */
export function writeBirdConfig(configFile: string, view: BgpView): void {
  putInPlace(configFile, writeNext(configFile, renderBirdConfig(view)));
}

function writeNext(configFile: string, text: string): string {
  const next = `${configFile}.next`;
  onDisk(configFile, () => fs.writeFileSync(next, text, { mode: 0o600 }));
  return next;
}

const putInPlace = (configFile: string, next: string): void =>
  onDisk(configFile, () => fs.renameSync(next, configFile));

function onDisk(configFile: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const message = `${configFile} cannot be written: ${describeError(cause)}`;
    throw new PodwireError('BGP_REFUSED', message, { cause });
  }
}

export function createBgpSpeaker({ configFile, socketFile, deadline, log }: BgpSpeakerOptions): BgpSpeaker {
  if (/["\\\r\n]/.test(path.resolve(configFile))) {
    throw new PodwireError(
      'CONFIG_INVALID',
      'bgp: the name of the configuration file has a quote or line break',
    );
  }
  let applied: string | undefined;
  let neighbours: readonly string[] = [];
  let working: Promise<void> = Promise.resolve();
  let latest = 0;

  async function reload(view: BgpView, text: string, signal: AbortSignal | undefined): Promise<void> {
    const next = writeNext(configFile, text);
    const ask = (command: string) =>
      askBird(socketFile, command, { deadline, ...(signal === undefined ? {} : { signal }) });
    await ask(`configure check "${next}"`);
    putInPlace(configFile, next);
    // Until it answers, nobody knows which of the two it has.
    applied = undefined;
    await ask(`configure "${configFile}"`);
    applied = text;
    neighbours = view.neighbours.map(({ address }) => address);
    log.info(
      { announced: view.announced.length, neighbours: neighbours.length },
      'the BGP daemon has a new configuration',
    );
  }

  return {
    async apply(view, signal) {
      const mine = ++latest;
      const text = renderBirdConfig(view);
      const turn = working
        .catch(() => undefined)
        .then(async () => {
          if (mine !== latest || text === applied) return;
          await reload(view, text, signal);
        });
      working = turn;
      await turn;
    },
    async sessions(signal) {
      const reply = await askBird(socketFile, 'show protocols all', {
        deadline,
        ...(signal === undefined ? {} : { signal }),
      });
      return readSessions(reply, neighbours);
    },
  };
}
