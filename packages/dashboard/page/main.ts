/** The page: a frame around the section that is open, drawn anew when something changes. */
import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { DashboardView } from '../src/shapes.js';
import { connect } from './connection.js';
import { handleKey, keys, showKeys } from './keys.js';
import { go, readLocation } from './navigation.js';
import { badge } from './parts.js';
import { change, onDraw, type Section, sections, state } from './state.js';
import { isDark, startTheme, switchTheme } from './theme.js';
import { drawAddresses } from './views/addresses.js';
import { drawDetail } from './views/detail.js';
import { drawNodes } from './views/nodes.js';
import { drawOverview } from './views/overview.js';
import { drawPaths } from './views/paths.js';
import { drawPods } from './views/pods.js';
import { drawProblems } from './views/problems.js';

const titles: Readonly<Record<Section, string>> = {
  overview: 'Overview',
  pods: 'Pods',
  nodes: 'Nodes',
  addresses: 'Addresses',
  paths: 'Paths',
  problems: 'Problems',
};

function drawPage(): TemplateResult {
  const { view, connection } = state;
  return html`
    <a class="skip" href="#main" @click=${skip}>To the content</a>
    <header class="top">
      <div class="brand">
        <img src="/icon.svg" alt="" width="26" height="26" /><strong>Podwire</strong
        ><span class="soft">${view?.title ?? ''}</span>
      </div>
      ${drawConnection()}
      <div class="tools">
        <input
          id="filter"
          type="search"
          placeholder="Filter  /"
          aria-label="Filter"
          autocomplete="off"
          spellcheck="false"
          .value=${state.filter}
          @input=${filter}
        />
        <button
          type="button"
          class="icon"
          aria-label=${isDark() ? 'Light colours' : 'Dark colours'}
          title="Dark or light (t)"
          @click=${switchTheme}
        >
          ${isDark() ? '☀' : '☾'}
        </button>
        <button type="button" class="icon" aria-label="Keys" title="Keys (?)" @click=${showKeys}>?</button>
      </div>
    </header>
    <nav aria-label="Sections">${sections.map((section, index) => drawLink(section, index + 1, view))}</nav>
    <main id="main" tabindex="-1" class=${connection === 'live' ? '' : 'old'}>
      <h1 class="unseen">${titles[state.section]}</h1>
      ${view === undefined ? drawWaiting() : drawSection(view)}
    </main>
    ${drawDetail()} ${drawKeys()}
  `;
}

/** The address after `#` says which section is open, so this is no link to it. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#main')?.focus();
}

const filter = (event: Event): void => change({ filter: (event.target as HTMLInputElement).value });

const connections = {
  connecting: ['unknown', 'connecting'],
  live: ['good', 'live'],
  lost: ['bad', 'connection lost, trying again'],
  refused: ['bad', 'not allowed'],
} as const;

function drawConnection(): TemplateResult {
  const [level, text] = connections[state.connection];
  return html`<span class="connection">${badge(level, text)}</span>`;
}

function drawWaiting(): TemplateResult {
  if (state.connection !== 'refused') return html`<p class="lonely">Asking the agents …</p>`;
  return html`<p class="lonely">
    This page needs the token of the running dashboard: open the URL that
    <code>podwire dashboard</code> printed.
  </p>`;
}

function drawSection(view: DashboardView): TemplateResult {
  switch (state.section) {
    case 'overview':
      return drawOverview(view);
    case 'pods':
      return drawPods(view.pods);
    case 'nodes':
      return drawNodes(view.nodes);
    case 'addresses':
      return drawAddresses(view.pools);
    case 'paths':
      return drawPaths(view);
    case 'problems':
      return drawProblems(view);
  }
}

function drawLink(section: Section, number: number, view: DashboardView | undefined): TemplateResult {
  const counts: Partial<Record<Section, number | undefined>> = {
    pods: view?.pods.length,
    nodes: view?.nodes.length,
    addresses: view?.pools.length,
    problems: view && view.errors.length + view.drift.filter(({ action }) => action === 'failed').length,
  };
  const count = counts[section];
  return html`<button
    type="button"
    aria-current=${state.section === section ? 'page' : 'false'}
    aria-keyshortcuts=${number}
    @click=${() => go(section)}
  >
    ${titles[section]}${count === undefined ? nothing : html` <span class="hint ${section === 'problems' && count > 0 ? 'bad' : ''}">${count}</span>`}
  </button>`;
}

const drawKeys = (): TemplateResult => html`
  <dialog id="keys" aria-labelledby="keysTitle">
    <form method="dialog">
      <h2 id="keysTitle">Keys</h2>
      <dl>
        ${keys.map(
          ([key, what]) =>
            html`<div>
              <dt><kbd>${key}</kbd></dt>
              <dd>${what}</dd>
            </div>`,
        )}
      </dl>
      <button>Close</button>
    </form>
  </dialog>
`;

/** Said to screen readers, and only when it changes: a word a second would be noise. */
let said = '';

function announce(): void {
  const { view, connection } = state;
  const errors = view?.errors.filter(({ at }) => at === null).length ?? 0;
  const text = connection === 'lost' ? 'connection lost' : errors > 0 ? `${errors} problems now` : '';
  if (text === said) return;
  said = text;
  document.querySelector('#announcer')!.textContent = text;
}

const root = document.querySelector<HTMLElement>('#page')!;
root.replaceChildren();
onDraw(() => {
  document.title =
    state.view === undefined ? 'Podwire' : `${titles[state.section]} · ${state.view.title} · Podwire`;
  render(drawPage(), root);
  announce();
});
// The token is in a cookie now, and must not be seen or copied with the address.
history.replaceState(null, '', `${location.pathname}${location.hash}`);
startTheme();
readLocation();
connect();
addEventListener('hashchange', readLocation);
addEventListener('popstate', readLocation);
addEventListener('keydown', handleKey);
setInterval(() => change({ now: Date.now() }), 1_000);
