import { type CatalogueEntry, type ErrorCode, errorCatalogue } from './catalogue.js';
import { describeCniCode } from './cni-code.js';
import { type Situation, situations } from './situations/index.js';

const introduction = `# Error codes

Every error that Podwire shows has one of these codes. The message beside it says what happened, with names and numbers;
this page has the general meaning, examples as they are printed, and what to do where the message leaves that open. A
container runtime sees the number of the last column (CNI specification 1.1.0, "Error"): numbers from 100 to 998 are
Podwire’s own.

<!-- Written by \`npm run docs -w @podwire/errors\` from packages/errors/src: catalogue.ts, situations. Edit those. -->
`;

export interface DocumentedCode extends CatalogueEntry {
  readonly situations: readonly Situation[];
}

/** `docs/errors.md`: a table of all codes, then a section for each. */
export function renderErrorCatalogue(
  catalogue: Readonly<Record<string, DocumentedCode>> = withSituations(),
): string {
  const entries = Object.entries(catalogue).sort(([a], [b]) => (a < b ? -1 : 1));
  const sections = entries.map(([code, entry]) => renderSection(code, entry));
  return [introduction, renderTable(entries), ...sections].join('\n');
}

function withSituations(): Record<string, DocumentedCode> {
  const entries: [string, CatalogueEntry][] = Object.entries(errorCatalogue);
  return Object.fromEntries(
    entries.map(([code, entry]) => [code, { ...entry, situations: situations[code as ErrorCode] }]),
  );
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

function renderSection(code: string, entry: DocumentedCode): string {
  const examples = entry.situations.map((each) => fold(renderSituation(code, entry, each))).join('\n\n');
  return `## ${code}

${wrap(entry.meaning)}

\`\`\`text
${examples}
\`\`\`

**CNI code:** ${entry.cni} (${describeCniCode(entry.cni)})
`;
}

/** As the command prints it. */
export function renderSituation(code: string, entry: CatalogueEntry, situation: Situation): string {
  const action = situation.action === undefined ? entry.action : (situation.action ?? undefined);
  return [
    `error: ${withoutMarks(situation.message)}`,
    ...(action === undefined ? [] : [`what to do: ${withoutMarks(action)}`]),
    `code: ${code}`,
  ].join('\n');
}

/** Long lines go on in the next one, further right. */
function fold(text: string): string {
  const lines = text.split('\n').map((line) => wrap(line, 116).replaceAll('\n', '\n    '));
  return lines.join('\n');
}

/** An example without the signs around what differs from case to case. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/[‹›]/g, '');
}

/** Breaks a paragraph into lines of so many characters at most. */
function wrap(text: string, width = 120): string {
  return text.replaceAll(new RegExp(`(.{1,${width}})(?: |$)`, 'g'), '$1\n').trimEnd();
}
