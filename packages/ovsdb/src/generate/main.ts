#!/usr/bin/env node
/** The command `podwire-ovsdb-types`. */
import fs from 'node:fs/promises';
import { runGenerator } from './run.js';

process.exitCode = await runGenerator(process.argv.slice(2), {
  readFile: (file) => fs.readFile(file, 'utf8'),
  writeOutput: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
});
