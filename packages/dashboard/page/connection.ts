/** The way to the server: a stream of changes, and questions about one pod or node. */
import type { DashboardView, NodeDetail, PodDetail, ViewChange } from '../src/shapes.js';
import { change, type Opened, type State, state } from './state.js';

/** Milliseconds between questions about what is open. */
const refreshAfter = 2_000;
const deadline = 15_000;

export function connect(): void {
  const stream = new EventSource('/api/events');
  stream.onmessage = ({ data }: MessageEvent<string>) => {
    const news = JSON.parse(data) as ViewChange;
    change({ view: { ...state.view, ...news } as DashboardView, connection: 'live', now: Date.now() });
  };
  stream.onerror = () => {
    // A closed stream was answered with an error: the token is of an earlier server.
    const isRefused = stream.readyState === EventSource.CLOSED;
    change({ connection: isRefused ? 'refused' : 'lost' });
  };
}

let opened: Opened | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Asks about what is opened, again and again while it is. */
export function follow(next: Opened | undefined): void {
  if (next?.id === opened?.id && next?.kind === opened?.kind) return;
  opened = next;
  clearTimeout(timer);
  change({ pod: undefined, node: undefined, detailProblem: '', zoom: undefined });
  if (next !== undefined) void refresh(next);
}

async function refresh(asked: Opened): Promise<void> {
  const changes = await (asked.kind === 'pod' ? readPod(asked.id) : readNode(asked.id));
  if (asked !== opened) return;
  change(changes);
  timer = setTimeout(() => void refresh(asked), refreshAfter);
}

async function readPod(id: string): Promise<Partial<State>> {
  const answer = await askServer<PodDetail>(`/api/pod?id=${encodeURIComponent(id)}`);
  return typeof answer === 'string' ? { detailProblem: answer } : { pod: answer, detailProblem: '' };
}

async function readNode(name: string): Promise<Partial<State>> {
  const answer = await askServer<NodeDetail>(`/api/node?name=${encodeURIComponent(name)}`);
  return typeof answer === 'string' ? { detailProblem: answer } : { node: answer, detailProblem: '' };
}

/** @returns the answer, or why there is none */
async function askServer<T extends object>(path: string): Promise<T | string> {
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(deadline) });
    return response.ok ? ((await response.json()) as T) : (await response.text()).trim();
  } catch {
    return 'the server does not answer';
  }
}
