import { html, nothing, type TemplateResult } from 'lit-html';
import type { DashboardView, Level, NodeRow, PoolRow } from '../../src/shapes.js';
import { formatCount, formatShare, plural } from '../format.js';
import { go } from '../navigation.js';
import { badge, empty, panel } from '../parts.js';
import type { Section } from '../state.js';
import { drawFill } from './addresses.js';
import { nodeTable } from './nodes.js';
import { drawErrors } from './problems.js';

const mostErrors = 4;

export function drawOverview(view: DashboardView): TemplateResult {
  const { nodes, pools, errors, notes } = view;
  return html`
    <div class="tiles">${drawTiles(view)}</div>
    ${notes.map((note) => html`<p class="note">${note}</p>`)}
    ${panel('Nodes', nodeTable(nodes), more('nodes', plural(nodes.length, 'node')))}
    <div class="columns">
      ${panel(
        'Addresses',
        pools.length === 0 ? empty('No pools', 'The agents have told of none.') : pools.map(drawShort),
        more('addresses', plural(pools.length, 'pool')),
      )}
      ${panel('Recent errors', drawErrors(errors.slice(0, mostErrors)), errors.length > mostErrors ? more('problems', `all ${errors.length}`) : nothing)}
    </div>
  `;
}

const drawShort = (pool: PoolRow): TemplateResult => html`
  <div class="poolShort">
    <h3>${pool.name} <span class="code">${pool.cidr}</span></h3>
    ${drawFill(pool)}
  </div>
`;

const more = (section: Section, text: string): TemplateResult =>
  html`<button type="button" class="link count" @click=${() => go(section)}>
    ${text} <span aria-hidden="true">→</span>
  </button>`;

interface Tile {
  readonly section: Section;
  readonly title: string;
  readonly value: string;
  readonly of: string;
  readonly level: Level;
  readonly text: string;
}

/** Its agent serves pods, and the cluster knows of it. */
const isReady = ({ level, lease }: NodeRow): boolean =>
  (level === 'good' || level === 'busy') && (lease === null || lease.level === 'good');

function drawTiles({ nodes, pods, pools, errors, drift, matrix }: DashboardView): TemplateResult[] {
  const ready = nodes.filter(isReady).length;
  const well = pods.filter(({ level }) => level === 'good').length;
  const used = pools.reduce((sum, pool) => sum + pool.used, 0);
  const fullest = Math.max(0, ...pools.map(({ share }) => share));
  const now = errors.filter(({ at }) => at === null).length;
  const failed = drift.filter(({ action }) => action === 'failed').length;
  const tiles: Tile[] = [
    {
      section: 'nodes',
      title: 'Nodes',
      value: `${ready}`,
      of: `of ${nodes.length}`,
      level: ready === nodes.length ? 'good' : 'bad',
      text: ready === nodes.length ? 'all ready' : 'not all ready',
    },
    {
      section: 'pods',
      title: 'Pods',
      value: `${well}`,
      of: `of ${pods.length}`,
      level: pods.length === 0 ? 'unknown' : well === pods.length ? 'good' : 'busy',
      text:
        pods.length === 0
          ? 'none yet'
          : well === pods.length
            ? 'all well'
            : `${pods.length - well} not ready`,
    },
    {
      section: 'addresses',
      title: 'Addresses',
      value: formatCount(used),
      of: 'used',
      level: pools.length === 0 ? 'unknown' : fullest >= 0.95 ? 'bad' : fullest >= 0.8 ? 'busy' : 'good',
      text: pools.length === 0 ? 'no pools' : `fullest ${formatShare(fullest)}`,
    },
    {
      section: 'paths',
      title: 'Connectivity',
      value: matrix === null ? '–' : `${matrix.good}`,
      of: matrix === null ? '' : `of ${matrix.all}`,
      level: matrix === null ? 'unknown' : matrix.ok ? 'good' : 'bad',
      text:
        matrix === null
          ? 'not tested'
          : matrix.ok
            ? 'last test passed'
            : `${matrix.all - matrix.good} failed`,
    },
    {
      section: 'problems',
      title: 'Errors',
      value: `${errors.length}`,
      of: '',
      level: now > 0 ? 'bad' : errors.length > 0 ? 'busy' : 'good',
      text: now > 0 ? `${now} now` : errors.length > 0 ? 'lately' : 'none',
    },
    {
      section: 'problems',
      title: 'Drift',
      value: `${drift.length}`,
      of: drift.length === 1 ? 'repair' : 'repairs',
      level: failed > 0 ? 'bad' : drift.length > 0 ? 'busy' : 'good',
      text: failed > 0 ? `${failed} failed` : drift.length > 0 ? 'repaired' : 'none seen',
    },
  ];
  return tiles.map(drawTile);
}

const drawTile = ({ section, title, value, of, level, text }: Tile): TemplateResult => html`
  <button type="button" class="tile" @click=${() => go(section)}>
    <span class="tileTitle">${title}</span>
    <span class="tileValue">${value}<small>${of}</small></span>
    ${badge(level, text)}
  </button>
`;
