export type SourceName = 'file' | 'http' | 'api';

/** Something a source could not use. It is shown until a later snapshot does not report it any more. */
export interface SourceProblem {
  readonly source: SourceName;
  /** File, URL or object. */
  readonly origin: string;
  /** `spec.containers[0].ports[1].hostPort`; absent when it concerns all of it. */
  readonly field?: string;
  /** The line and column in the file, from 1. */
  readonly line?: number;
  readonly column?: number;
  /** The document of the file, from 1, when there are several. */
  readonly document?: number;
  readonly message: string;
}

/** `web.yaml:14:9: spec.containers[0].ports[1].hostPort: must be …`, as compilers write it, so that editors can jump there. */
export function formatProblem({ origin, line, column, document, field, message }: SourceProblem): string {
  const place = line === undefined ? origin : `${origin}:${line}:${column ?? 1}`;
  const number = document === undefined ? '' : ` (document ${document})`;
  return [place + number, field, message].filter((part) => part !== undefined && part !== '').join(': ');
}
