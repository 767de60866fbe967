import fs from 'node:fs';
import { describeError, PodwireError } from '@podwire/errors';
import { describeYamlError } from '@podwire/platform';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { describeIssue } from './issue-words.js';
import { type ConfigProblem, describeIssues, formatProblem } from './problems.js';
import { type AgentConfig, configSchema } from './schema.js';
import { keysAt } from './shape.js';

/** A configuration that can be used, or everything that is wrong with it. */
export type ConfigCheck =
  | { readonly config: AgentConfig; readonly problems: readonly [] }
  | { readonly problems: readonly ConfigProblem[] };

export type ConfigSchema = typeof configSchema;

/** Aliases may refer to each other a hundred times at most: a short file must not unfold into gigabytes. */
const yamlLimits = { maxAliasCount: 100 };

/** Checks a configuration file's text (YAML 1.2; JSON is YAML too). An empty text gives the defaults. */
export function checkConfig(text: string, schema = configSchema): ConfigCheck {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  if (document.errors.length > 0) return { problems: syntaxProblems(document, lines) };
  const content = readContent(document);
  if ('problem' in content) return { problems: [content.problem] };
  const result = schema.safeParse(content.value ?? {}, { error: describeIssue });
  if (result.success) return { config: result.data, problems: [] };
  return { problems: describeIssues(result.error.issues, document, lines, keysAt) };
}

/** The first: what comes behind it follows from it more often than not. */
function syntaxProblems(document: Document, lines: LineCounter): ConfigProblem[] {
  return document.errors.slice(0, 1).map(({ message, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    return { path: '', message: describeYamlError(message), line, column: col };
  });
}

function readContent(document: Document): { value: unknown } | { problem: ConfigProblem } {
  try {
    return { value: document.toJS(yamlLimits) as unknown };
  } catch (error) {
    return { problem: { path: '', message: describeError(error) } };
  }
}

/**
 * The configuration of a text; `file` is only for messages.
 * @throws PodwireError CONFIG_INVALID with every problem, one a line
 */
export function parseConfig(text: string, file = 'configuration', schema = configSchema): AgentConfig {
  const check = checkConfig(text, schema);
  if ('config' in check) return check.config;
  const listed = check.problems.map((problem) => formatProblem(file, problem));
  throw new PodwireError('CONFIG_INVALID', listed.join('\n'), {
    details: { file },
    action: 'docs/configuration.md describes each field; `podwire config validate` checks a file.',
  });
}

/**
 * Reads a configuration file; without one, the defaults.
 * @throws PodwireError CONFIG_INVALID, also when the file cannot be read
 */
export function loadConfig(file: string | undefined, schema = configSchema): AgentConfig {
  if (file === undefined) return parseConfig('', undefined, schema);
  return parseConfig(readConfigText(file), file, schema);
}

/** @throws PodwireError CONFIG_INVALID */
export function readConfigText(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `cannot read the configuration: ${describeError(cause)}`, {
      cause,
      details: { file },
    });
  }
}
