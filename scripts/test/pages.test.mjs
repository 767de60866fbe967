import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findLongLines } from './lines.mjs';
import { findLinkFaults } from './links.mjs';

describe('findLongLines', () => {
  const long = 'word '.repeat(30);

  it('finds prose and table rows of more than 120 characters', () => {
    expect(findLongLines('a.md', `short\n${long}\n| a | ${long} |\n`)).toEqual([
      'a.md:2 has 150 characters',
      'a.md:3 has 158 characters',
    ]);
  });

  it('leaves alone output of programs, and what has no place to break', () => {
    expect(findLongLines('a.md', `\`\`\`\n${long}\n\`\`\`\n- \`{${long}}\`\n`)).toEqual([]);
  });
});

describe('findLinkFaults', () => {
  it('finds links to missing files and headings, and leaves code alone', () => {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-links-'));
    onTestFinished(() => fs.rmSync(root, { recursive: true }));
    execFileSync('git', ['init', '--quiet', root]);
    const text = '# How `a` works: b\n[x](gone.md) [y](#how-a-works-b) [z](#nothing) `[q](code.md)`\n';
    fs.writeFileSync(path.join(root, 'page.md'), text);
    expect(findLinkFaults(root)).toEqual([
      'page.md: gone.md does not exist',
      'page.md: page.md has no heading #nothing',
    ]);
  });
});
