/** Keeps the daemon's configuration in line with the cluster. */
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { compact, KeyedMutex, type Log, replaceFile, replaceFileSync } from '@podwire/platform';
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
   * Announces the view's prefixes. Sessions stay up: neighbours get only the differences. Without a change this costs a comparison
   * of text. One call at a time; a later view replaces those that wait.
   * @throws PodwireError CONFIG_INVALID, BGP_REFUSED; the daemon then goes on as before
   */
  apply(view: BgpView, signal?: AbortSignal): Promise<void>;
  /** The state of the sessions with the neighbours of the last view. @throws PodwireError BGP_REFUSED */
  sessions(signal?: AbortSignal): Promise<BgpSession[]>;
}

/** Writes the configuration with which the daemon starts; it may have no view of the cluster yet. */
export function writeBirdConfig(configFile: string, view: BgpView): void {
  try {
    replaceFileSync(configFile, renderBirdConfig(view), { mode: 0o600 });
  } catch (cause) {
    throw notWritten(configFile, cause);
  }
}

async function replaceConfig(
  configFile: string,
  text: string,
  verify: (temporary: string) => Promise<void>,
): Promise<void> {
  try {
    await replaceFile(configFile, text, { mode: 0o600, verify });
  } catch (cause) {
    throw cause instanceof PodwireError ? cause : notWritten(configFile, cause);
  }
}

const notWritten = (configFile: string, cause: unknown): PodwireError =>
  new PodwireError('BGP_REFUSED', `${configFile} cannot be written: ${describeError(cause)}`, {
    cause,
    action: 'Check the free space and the permissions of its directory.',
  });

export function createBgpSpeaker({ configFile, socketFile, deadline, log }: BgpSpeakerOptions): BgpSpeaker {
  if (/["\\\r\n]/.test(path.resolve(configFile))) {
    throw new PodwireError(
      'CONFIG_INVALID',
      'bgp: the name of the configuration file has a quote or line break',
    );
  }
  let applied: string | undefined;
  let neighbours: readonly string[] = [];
  const mutex = new KeyedMutex();
  let latest = 0;

  async function reload(view: BgpView, text: string, signal: AbortSignal | undefined): Promise<void> {
    const ask = (command: string) => askBird(socketFile, command, { deadline, ...compact({ signal }) });
    await replaceConfig(configFile, text, async (temporary) => {
      await ask(`configure check "${path.resolve(temporary)}"`);
    });
    // Unknown until it answers which of the two it uses.
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
      await mutex.withAll(undefined, async () => {
        if (mine !== latest || text === applied) return;
        await reload(view, text, signal);
      });
    },
    async sessions(signal) {
      const reply = await askBird(socketFile, 'show protocols all', {
        deadline,
        ...compact({ signal }),
      });
      return readSessions(reply, neighbours);
    },
  };
}
