import { type CatalogueEntry, errorCatalogue } from './catalogue.js';
import { describeCniCode } from './cni-code.js';

const introduction = `# Error codes

Every error that Podwire shows has one of these codes. The message beside it says what happened, with names and numbers;
this page has the general meaning and the action to take. A container runtime sees the number of the last column (CNI
specification 1.1.0, "Error"): numbers from 100 to 998 are Podwire’s own.

<!-- Written by \`npm run docs -w @podwire/errors\` from packages/errors/src/catalogue.ts. Edit that file instead. -->
`;

/** `docs/errors.md`: a table of all codes, then a section for each. */
export function renderErrorCatalogue(
  catalogue: Readonly<Record<string, CatalogueEntry>> = errorCatalogue,
): string {
  const entries = Object.entries(catalogue).sort(([a], [b]) => (a < b ? -1 : 1));
  const sections = entries.map(([code, entry]) => renderSection(code, entry));
  return [introduction, renderTable(entries), ...sections].join('\n');
}

function renderTable(entries: readonly (readonly [string, CatalogueEntry])[]): string {
  const rows = entries.map(([code, entry]) => [`[${code}](#${code.toLowerCase()})`, String(entry.cni)]);
  const header = ['Code', 'CNI code'];
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  );
  const rule = widths.map((width) => '-'.repeat(width));
  return [header, rule, ...rows].map((cells) => renderRow(cells, widths)).join('');
}

/** Cells are padded as prettier does it, so that the page is stable under `npm run format`. */
function renderRow(cells: readonly string[], widths: readonly number[]): string {
  return `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`;
}

function renderSection(code: string, entry: CatalogueEntry): string {
  return `## ${code}

${wrap(entry.meaning)}

${wrap(`**What to do:** ${entry.action}`)}

**CNI code:** ${entry.cni} (${describeCniCode(entry.cni)})
`;
}

/** Breaks a paragraph into lines of at most 120 characters. */
function wrap(text: string): string {
  return text.replaceAll(/(.{1,120})(?: |$)/g, '$1\n').trimEnd();
}
