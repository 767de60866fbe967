/** State of the page. Views read it; actions change it and ask for a new drawing. */
import type { DashboardView, NodeDetail, PodDetail } from '../src/shapes.js';

export const sections = ['overview', 'pods', 'nodes', 'addresses', 'paths', 'problems'] as const;
export type Section = (typeof sections)[number];

export const tabs = ['path', 'trace', 'kernel', 'events'] as const;
export type Tab = (typeof tabs)[number];

export interface Opened {
  readonly kind: 'pod' | 'node';
  readonly id: string;
}

export interface State {
  view: DashboardView | undefined;
  /** `live`, or why the picture is old. */
  connection: 'connecting' | 'live' | 'lost' | 'refused';
  section: Section;
  filter: string;
  opened: Opened | undefined;
  pod: PodDetail | undefined;
  node: NodeDetail | undefined;
  /** Why there is no detail. */
  detailProblem: string;
  tab: Tab;
  /** Only what differs. */
  driftOnly: boolean;
  /** The row of the waterfall that fills its width. */
  zoom: number | undefined;
  /** The row of each list that Tab leads to. */
  readonly rows: Map<string, string>;
  /** Pools and lists that are shown whole. */
  readonly whole: Set<string>;
  now: number;
}

export const state: State = {
  view: undefined,
  connection: 'connecting',
  section: 'overview',
  filter: '',
  opened: undefined,
  pod: undefined,
  node: undefined,
  detailProblem: '',
  tab: 'path',
  driftOnly: false,
  zoom: undefined,
  rows: new Map(),
  whole: new Set(),
  now: Date.now(),
};

let draw = (): void => undefined;
let isAsked = false;

export function onDraw(listener: () => void): void {
  draw = listener;
}

/** Changes the state, and draws once before the next frame. */
export function change(changes: Partial<State> = {}): void {
  Object.assign(state, changes);
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    draw();
  });
}

/** Reports if any of the texts has the filter's words, all of them. */
export function matches(...texts: readonly string[]): boolean {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const text = texts.join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
