/** The manual: a page for the program and one for each command, generated from what the commands declare. */
import type { Command } from 'commander';
import { catalog } from '../catalog.js';
import { ownVersion } from '../checkout.js';
import type { Io } from '../io.js';
import { createWholeProgram } from '../program.js';
import { type Page, renderPage } from './page.js';
import { bold, definition, heading, subheading } from './roff.js';
import { environment, files } from './environment.js';

export type { Page } from './page.js';

/** Nothing is printed: the pages come back. */
function createSilentIo(): Io {
  const nowhere = { write: () => true, columns: 100 };
  return { stdout: nowhere, stderr: nowhere, env: {}, now: () => 0, color: false, exitCode: 0 };
}

const pageOf = (name: string): string => `${bold(`podwire-${name}`)}(1)`;

/** Commands in the groups of the overview. */
function renderOverview(): readonly string[] {
  const groups = [...new Set(catalog.map(({ group }) => group))];
  return groups.flatMap((group) => [
    ...subheading(group.replace(/:$/, '')),
    ...catalog
      .filter((entry) => entry.group === group)
      .flatMap(({ name, summary }) => definition(pageOf(name), summary)),
  ]);
}

const renderTerms = (title: string, terms: readonly (readonly [string, string])[]): readonly string[] => [
  ...heading(title),
  ...terms.flatMap(([term, text]) => definition(bold(term), text)),
];

const mainPage = (program: Command): Page =>
  renderPage(program, ownVersion(), [
    ...heading('Commands'),
    ...renderOverview(),
    ...renderTerms('Environment', environment),
    ...renderTerms('Files', files),
  ]);

function commandPage(command: Command): Page {
  const others = catalog.filter(({ name }) => name !== command.name());
  const group = catalog.find(({ name }) => name === command.name())?.group;
  const related = others.filter((entry) => entry.group === group).map(({ name }) => pageOf(name));
  return renderPage(command, ownVersion(), [
    ...heading('See also'),
    [`${bold('podwire')}(1)`, ...related].join(',\n'),
  ]);
}

/** All pages, to be written to `man1` under their names. Also commands that packages of their own add. */
export async function renderManPages(): Promise<readonly Page[]> {
  const program = await createWholeProgram(createSilentIo());
  const named = program.commands.filter((command) => catalog.some(({ name }) => name === command.name()));
  return [mainPage(program), ...named.map(commandPage)];
}
