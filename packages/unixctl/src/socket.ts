import path from 'node:path';
import { readIfExists } from '@podwire/platform';
import { ControlError } from './errors.js';

/** The longest text of a process id: 2^22 is the most that Linux has. */
const longestId = /^\d{1,7}$/;

/**
 * The control socket of a daemon that runs: `RUNDIR/NAME.PID.ctl`, with the process id from `RUNDIR/NAME.pid`
 * (ovs-appctl(8), `--target`). Reading the file is the only thing that is done.
 * @param daemon `ovs-vswitchd`, `ovsdb-server`
 * @throws ControlError `NOT_RUNNING`; an error of the system
 */
export async function findControlSocket(runDir: string, daemon: string): Promise<string> {
  const file = path.join(runDir, `${daemon}.pid`);
  const text = await readIfExists(file);
  if (text === undefined)
    throw new ControlError('NOT_RUNNING', `there is no ${file}, so ${daemon} does not run`);
  const id = text.trim();
  if (!longestId.test(id)) throw new ControlError('NOT_RUNNING', `${file} has no process id`);
  return path.join(runDir, `${daemon}.${id}.ctl`);
}
