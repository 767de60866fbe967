#!/usr/bin/env node
/**
 * Writes the manual pages of all commands, from what the built commands declare.
 *
 *   npm run docs:man [-- DIRECTORY]        `man` when it is not given; then: man -l man/podwire.1
 */
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** @returns the names of the pages */
export async function writeManPages(directory) {
  const { renderManPages } = await import(path.join(root, 'packages/cli/dist/src/man/pages.js'));
  const pages = await renderManPages();
  fs.rmSync(directory, { recursive: true, force: true });
  fs.mkdirSync(directory, { recursive: true });
  for (const { name, text } of pages) fs.writeFileSync(path.join(directory, name), text);
  return pages.map(({ name }) => name);
}

if (process.argv[1] === import.meta.filename) {
  const directory = path.resolve(process.argv[2] ?? path.join(root, 'man'));
  const pages = await writeManPages(directory);
  console.log(`✓ ${pages.length} pages: ${directory}`);
}
