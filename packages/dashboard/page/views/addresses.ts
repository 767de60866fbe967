import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { BlockRow, PoolRow } from '../../src/shapes.js';
import { formatCount, formatShare, plural } from '../format.js';
import { bar, empty, panel, sparkline } from '../parts.js';
import { matches } from '../state.js';

export function drawAddresses(pools: readonly PoolRow[]): TemplateResult {
  const shown = pools.filter((pool) =>
    matches(pool.name, pool.network, pool.cidr, ...pool.blocks.map((block) => block.node)),
  );
  if (pools.length === 0) return panel('Addresses', empty('No pools', 'The agents have told of none.'));
  if (shown.length === 0) return panel('Addresses', empty('No pool matches', 'Esc clears the filter.'));
  return html`${repeat(shown, poolId, (pool) => panel(pool.name, drawPool(pool), poolAside(pool), 'pool'))}`;
}

const poolId = ({ network, name, cidr }: PoolRow): string => `${network}/${name}/${cidr}`;

const poolAside = ({ cidr, network, state }: PoolRow): TemplateResult => html`
  <span class="code">${cidr}</span
  ><span class="count">network ${network}${state === 'enabled' ? '' : `, ${state}`}</span>
`;

export function drawPool(pool: PoolRow): TemplateResult {
  const { blocks, more } = pool;
  return html`
    ${drawFill(pool)}
    ${blocks.length === 0 ? nothing : html`<h3>${plural(blocks.length + more, 'block')}</h3>`}
    <ul class="blocks">
      ${repeat(blocks, ({ cidr, node }) => `${cidr} ${node}`, drawBlock)}
    </ul>
    ${more === 0 ? nothing : html`<p class="more">and ${plural(more, 'more block')}</p>`}
  `;
}

export function drawFill(pool: PoolRow): TemplateResult {
  const { used, free, total, lent, cooling, share, inBlocks, trend } = pool;
  const all = Number(total);
  const part = (count: number): number => (all > 0 ? count / all : 0);
  const idle = Math.max(0, inBlocks - used - cooling);
  const parts = [
    { kind: 'used', share },
    { kind: 'cooling', share: part(cooling) },
    { kind: 'held', share: part(idle) },
  ];
  const text = `${formatCount(used)} of ${formatCount(total)} addresses used`;
  return html`
    <div class="fill">
      <div class="fillText"><strong>${formatShare(share)}</strong> <span>${text}</span></div>
      ${sparkline(trend, `used addresses in the last minutes, now ${used}`)} ${bar(parts, text)}
      <dl class="legend">
        <div>
          <dt><i class="used"></i>used</dt>
          <dd>${formatCount(used)}</dd>
        </div>
        ${
          cooling === 0
            ? nothing
            : html`<div>
                <dt><i class="cooling"></i>cooling down</dt>
                <dd>${formatCount(cooling)}</dd>
              </div>`
        }
        ${
          lent === 0
            ? nothing
            : html`<div>
                <dt><i class="lent"></i>borrowed</dt>
                <dd>${formatCount(lent)}</dd>
              </div>`
        }
        <div>
          <dt><i class="held"></i>free in blocks</dt>
          <dd>${formatCount(idle)}</dd>
        </div>
        <div>
          <dt><i class="ground"></i>free</dt>
          <dd>${formatCount(free)}</dd>
        </div>
      </dl>
    </div>
  `;
}

function drawBlock({ cidr, node, size, used, lent }: BlockRow): TemplateResult {
  const parts = [
    { kind: 'lent', share: Math.min(lent, used) / size },
    { kind: 'used', share: Math.max(0, used - lent) / size },
  ];
  const counts = `${used} of ${formatCount(size)}${lent === 0 ? '' : `, ${lent} borrowed`}`;
  return html`
    <li>
      <span class="code">${cidr}</span
      ><span class="soft">${node === '' ? 'no node' : node}</span>
      ${bar(parts, `${cidr}: ${counts} used`)}<span class="number">${counts}</span>
    </li>
  `;
}
