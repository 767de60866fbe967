/** The BGP daemon as it really is: BIRD 2, its configuration and its control socket. Loaded only where BGP is configured. */
import fs from 'node:fs';
import path from 'node:path';
import { type BirdDaemon, createBgpSpeaker, startBird, writeBirdConfig } from '@podwire/bird';
import { describeError, PodwireError } from '@podwire/errors';
import { systemClock } from '@podwire/platform';
import type { BgpConfig } from '../config/bgp.js';
import type { Log } from '../log.js';
import type { BgpDaemon } from './bgp-contract.js';

/** Milliseconds for one answer of the daemon. */
const deadline = 10_000;

export function openBirdDaemon(config: BgpConfig, stateDir: string, log: Log): BgpDaemon {
  const configFile = config.configFile ?? path.join(stateDir, 'bird.conf');
  const socketFile = config.socket ?? path.join(stateDir, 'bird.ctl');
  const speaker = createBgpSpeaker({ configFile, socketFile, deadline, log });
  let running: BirdDaemon | undefined;
  return {
    async ensure(view, signal) {
      if (!config.start || running !== undefined) return;
      writeBirdConfig(configFile, view);
      const { program } = config;
      running = await startBird({ program, configFile, socketFile, clock: systemClock, log }, signal);
    },
    apply: (view, signal) => speaker.apply(view, signal),
    sessions: (signal) => speaker.sessions(signal),
    stop: async () => running?.stop(),
    readSecret,
  };
}

function readSecret(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').trimEnd();
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${file} cannot be read: ${describeError(cause)}`, { cause });
  }
}
