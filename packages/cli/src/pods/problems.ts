/** Faults of manifests, as lines. */
import fs from 'node:fs';
import { PodwireError } from '@podwire/errors';
import { formatProblem } from '@podwire/pod-spec';
import { printable } from '../io.js';
import type { PodsView } from './names.js';

type Problems = PodsView['problems'];

/** `web.yaml:7:9: spec.containers[0].image: is missing` */
export function renderProblems(problems: Problems): string[] {
  return problems.map((problem) => printable(formatProblem(problem)));
}

/** So many lines stand above a table; more are counted. */
const mostLines = 3;

export function summarizeProblems(problems: Problems): string[] {
  if (problems.length <= mostLines) return renderProblems(problems);
  const manifests = new Set(problems.map(({ origin }) => origin)).size;
  const where = manifests === 1 ? 'a manifest' : `${manifests} manifests`;
  return [`${problems.length} problems in ${where}: \`podwire ps --problems\` lists them`];
}

/**
 * A path that is not there is a slip of the pen: it is not watched. One that vanishes later stays watched.
 * @throws PodwireError MANIFEST_INVALID with each that is missing
 */
export function requirePresent(files: readonly string[]): void {
  const missing = files.filter((file) => !fs.existsSync(file));
  if (missing.length === 0) return;
  throw new PodwireError('MANIFEST_INVALID', missing.map((file) => `${file}: does not exist`).join('\n'), {
    details: { files: missing },
  });
}
