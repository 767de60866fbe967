import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { catalog } from '../src/catalog.js';
import { type Page, renderManPages } from '../src/man/pages.js';
import { bold, escapeCode, prose, syntax } from '../src/man/roff.js';
import { environment } from '../src/man/environment.js';

let pages: ReadonlyMap<string, string>;
beforeAll(async () => {
  const rendered = await renderManPages();
  pages = new Map(rendered.map(({ name, text }: Page) => [name, text]));
});
const page = (name: string): string => pages.get(`${name}.1`) ?? '';

/** The lines below a heading, up to the next. */
function section(name: string, title: string): string {
  const [, below = ''] = page(name).split(`.SH ${title}\n`);
  return below.split('\n.SH ')[0] ?? '';
}

describe('the manual', () => {
  test('has a page for the program and one for each command', () => {
    const names = catalog.map(({ name }) => `podwire-${name}.1`);
    expect([...pages.keys()].toSorted()).toEqual(['podwire.1', ...names].toSorted());
    for (const { name } of catalog)
      expect(section('podwire', 'COMMANDS')).toContain(escapeCode(`podwire-${name}`));
  });

  test('a page has name, synopsis, description, options and other pages', () => {
    for (const { name, summary } of catalog) {
      expect(section(`podwire-${name}`, 'NAME')).toBe(`${bold(`podwire-${name}`)} \\- ${prose(summary)}`);
      for (const title of ['SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'SEE ALSO'])
        expect(section(`podwire-${name}`, title), `${name}: ${title}`).not.toBe('');
    }
  });

  test('shows arguments, options, exit codes and examples as they are declared', () => {
    expect(section('podwire-logs', 'SYNOPSIS')).toContain(syntax('podwire logs [options] <pod>'));
    expect(section('podwire-logs', 'OPTIONS')).toContain(syntax('-c, --container <name>'));
    expect(section('podwire-logs', 'EXAMPLES')).toContain(escapeCode('podwire logs shop/web -c sidecar'));
    expect(section('podwire-status', 'EXIT STATUS')).toContain('the agent answers and is not ready');
    expect(section('podwire', 'EXIT STATUS')).toMatch(/^\.TP\n\\fB0\\fR\ndone$/m);
  });

  test('shows sub-commands with their own options on the page of their command', () => {
    expect(section('podwire-ipam', 'COMMANDS')).toContain('.SS podwire ipam show');
    expect(section('podwire-ipam', 'COMMANDS')).toContain(syntax('--leases'));
  });

  test('names each variable of the environment that a program reads', () => {
    const sources = ['cli', 'agent', 'podlet'].flatMap((name) => {
      const folder = path.join(import.meta.dirname, '../..', name, 'src');
      const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
      return files.filter((file) => file.endsWith('.ts')).map((file) => path.join(folder, file));
    });
    const read = sources.flatMap((file) =>
      [...fs.readFileSync(file, 'utf8').matchAll(/\benv\??\.?\[?'?(PODWIRE_[A-Z_]+)/g)].map(
        ([, name]) => name,
      ),
    );
    const known = environment.map(([name]) => name);
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });
});

describe('roff', () => {
  test('text begins no request and ends no escape', () => {
    expect(prose(".conf files\n'a' and \\n")).toBe('\\&.conf files\n\\&\\(aqa\\(aq and \\(rsn');
    expect(prose('as `podwire ps -o json`')).toBe('as \\fBpodwire ps \\-o json\\fR');
  });

  test('what is typed is bold, what stands for something italic', () => {
    expect(syntax('-o, --output <format>')).toBe('\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fI<format>\\fR');
  });
});
