/** Documents for programs: what `-o json`, `yaml`, `jsonpath=…` and `jsonpath-file=…` print. */
import fs from 'node:fs';

/** Turns the data of a command into the text that is printed. */
export type DocumentFormat = (data: unknown) => string;

const template = /^jsonpath(?<file>-file)?=(?<text>.+)$/s;

/** Reports if the format is for programs: `outputOf` calls all of these `json`. */
export const isDocument = (format: string): boolean =>
  format === 'json' || format === 'yaml' || template.test(format);

export const isTemplate = (format: string): boolean => template.test(format);

export const formatJson: DocumentFormat = (data) => `${JSON.stringify(data, undefined, 2)}\n`;

/** For a stream of documents, one a line. */
export const formatJsonLine: DocumentFormat = (data) => `${JSON.stringify(data)}\n`;

/**
 * @param format as `-o` has it
 * @throws Error with words for people when a template cannot be read
 */
export async function loadDocumentFormat(format: string): Promise<DocumentFormat> {
  if (format === 'yaml') return loadYaml();
  const { file, text } = template.exec(format)?.groups ?? {};
  if (text === undefined) return formatJson;
  return loadTemplate(file === undefined ? text : fs.readFileSync(text, 'utf8').replace(/\n$/, ''));
}

async function loadYaml(): Promise<DocumentFormat> {
  const { stringify } = await import('yaml');
  // The way through JSON leaves out what is undefined, and what JSON writes in its own way.
  return (data) =>
    stringify(JSON.parse(JSON.stringify(data)), { lineWidth: 0, aliasDuplicateObjects: false });
}

async function loadTemplate(text: string): Promise<DocumentFormat> {
  const [{ readTemplate }, { renderTemplate }] = await Promise.all([
    import('./jsonpath-reader.js'),
    import('./jsonpath.js'),
  ]);
  const parts = readTemplate(text);
  return (data) => renderTemplate(parts, JSON.parse(JSON.stringify(data)));
}
