import { Option } from 'commander';
import type { Io } from '../io.js';

/** `--run-dir`, by default as programs of Open vSwitch have it. */
export const createRunDirOption = (io: Io): Option =>
  new Option('--run-dir <dir>', 'where Open vSwitch has its sockets; $OVS_RUNDIR where that is set').default(
    io.env['OVS_RUNDIR'] ?? '/run/openvswitch',
  );
