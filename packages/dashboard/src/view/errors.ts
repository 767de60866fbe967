/** Errors of late and of now, with the code and the action to take. Pure. */
import { type CatalogueEntry, errorCatalogue } from '@podwire/errors';
import type { NodeAnswers, PodView } from '../answers.js';
import type { ErrorRow, NodeRow } from '../shapes.js';

export const mostErrors = 100;

type Found = Omit<ErrorRow, 'id' | 'meaning' | 'action' | 'count'> & { readonly count?: number };

/** A node that the cluster has lost: the store says so, not its agent. */
export function lostNodes(nodes: readonly NodeRow[]): Found[] {
  return nodes
    .filter(({ lease }) => lease?.state === 'unreachable')
    .map(({ name, lease }) => {
      const message = `node ${name} is unreachable: its agent does not hold its lease in the store`;
      return { at: lease?.since ?? null, node: name, subject: 'lease', code: '', message };
    });
}

export function viewErrors(answers: readonly NodeAnswers[], others: readonly Found[] = []): ErrorRow[] {
  const found = [
    ...others,
    ...answers.flatMap((each) => [...problemsOfNode(each), ...failedRequests(each), ...podWarnings(each)]),
  ];
  const rows = new Map<string, ErrorRow>();
  for (const each of found) {
    const id = [each.node, each.subject, each.code, each.message].join('\n');
    const before = rows.get(id);
    const count = (before?.count ?? 0) + (each.count ?? 1);
    const at = before === undefined ? each.at : latest(before.at, each.at);
    rows.set(id, { ...each, id, at, count, ...adviceFor(each.code) });
  }
  return [...rows.values()].toSorted((a, b) => (b.at ?? Infinity) - (a.at ?? Infinity)).slice(0, mostErrors);
}

/** A current error counts as later than any moment. */
const latest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : Math.max(a, b);

function problemsOfNode({ name, status, failure, podProblems }: NodeAnswers): Found[] {
  const ofAgent =
    status === undefined
      ? [failure]
      : [
          ...(status.problem === null ? [] : [status.problem]),
          ...(status.problems ?? []),
          ...status.recordProblems,
          ...(status.cluster?.problems ?? []),
        ];
  return [
    ...[...new Set(ofAgent)].map((text) => present(name, 'agent', text)),
    ...podProblems.map((text) => present(name, 'manifest', text)),
  ];
}

const present = (node: string, subject: string, text: string): Found => {
  return { at: null, node, subject, ...splitCode(text) };
};

function failedRequests({ name, traces }: NodeAnswers): Found[] {
  return traces
    .filter(({ result }) => result !== 'ok')
    .map(({ startedAt, command, pod, endpoint = '', result, error }) => ({
      at: startedAt,
      node: name,
      subject: pod ?? endpoint.split(',')[1]?.slice(0, 12) ?? '',
      code: result,
      message: error === undefined ? `${command} failed` : `${command}: ${withoutCode(error, result)}`,
    }));
}

function podWarnings({ name, pods = [] }: NodeAnswers): Found[] {
  return pods.flatMap((pod: PodView) =>
    pod.events
      .filter(({ type }) => type === 'Warning')
      .map(({ lastAt, reason, message, count }) => {
        const code = findCode(message) ?? reason;
        return { at: lastAt, node: name, subject: `${pod.namespace}/${pod.name}`, code, message, count };
      }),
  );
}

/** `POOL_EXHAUSTED: no address …` */
function splitCode(text: string): { code: string; message: string } {
  const code = findCode(text);
  return code === undefined ? { code: '', message: text } : { code, message: withoutCode(text, code) };
}

const withoutCode = (text: string, code: string): string =>
  text.startsWith(`${code}: `) ? text.slice(code.length + 2) : text;

const isKnown = (code: string): code is keyof typeof errorCatalogue => Object.hasOwn(errorCatalogue, code);

function findCode(text: string): string | undefined {
  return (text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? []).find(isKnown);
}

function adviceFor(code: string): { readonly meaning: string; readonly action: string } {
  if (!isKnown(code)) return { meaning: '', action: '' };
  const { meaning, action = '' }: CatalogueEntry = errorCatalogue[code];
  return { meaning, action };
}
