import type { Command } from 'commander';
import type { Io } from '../io.js';
export function define(_command: Command, _io: Io): void {}
