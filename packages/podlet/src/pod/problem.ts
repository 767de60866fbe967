import type { SourceProblem } from '../contract.js';

/** `web.yaml:14:9: spec.containers[0].ports[1].hostPort: must be …`, as compilers write it, so that editors can jump there. */
export function formatProblem({ origin, line, column, document, field, message }: SourceProblem): string {
  const place = line === undefined ? origin : `${origin}:${line}:${column ?? 1}`;
  const number = document === undefined ? '' : ` (document ${document})`;
  return [place + number, field, message].filter((part) => part !== undefined && part !== '').join(': ');
}
