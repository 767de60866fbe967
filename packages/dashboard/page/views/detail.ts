/** Details of one pod or node, beside the lists. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { NodeRow, PathStep, PodDetail, PodRow, ResourceRow } from '../../src/shapes.js';
import { formatTime, plural } from '../format.js';
import { close } from '../navigation.js';
import { addresses, age, badge, empty } from '../parts.js';
import { change, state, type Tab, tabs } from '../state.js';
import { drawWaterfall } from './waterfall.js';

export function drawDetail(): TemplateResult | typeof nothing {
  const { opened, view } = state;
  if (opened === undefined || view === undefined) return nothing;
  if (opened.kind === 'pod') {
    const pod = view.pods.find(({ id }) => id === opened.id);
    return frame(
      pod?.name ?? 'a pod',
      pod === undefined ? 'gone' : `pod in ${pod.namespace}, on ${pod.node}`,
      drawPod(pod),
    );
  }
  const node = view.nodes.find(({ name }) => name === opened.id);
  return frame(opened.id, 'node', drawNode(node));
}

const frame = (title: string, subtitle: string, content: unknown): TemplateResult => html`
  <aside class="detail" aria-label=${`Details of ${title}`}>
    <header>
      <div>
        <h2 tabindex="-1">${title}</h2>
        <p class="soft">${subtitle}</p>
      </div>
      <button type="button" class="icon" aria-label="Close details" title="Close (Esc)" @click=${close}>
        ✕
      </button>
    </header>
    ${state.detailProblem === '' ? nothing : html`<p class="note bad">${state.detailProblem}</p>`} ${content}
  </aside>
`;

function drawPod(pod: PodRow | undefined): TemplateResult {
  if (pod === undefined) return empty('This pod is gone', 'It ended, or its name is another one now.');
  const detail = state.pod;
  return html`
    <p class="headline">${badge(pod.level, pod.state)} ${pod.reason}</p>
    ${drawTabs(detail)}
    <div class="tabPanel" role="tabpanel" id="tabPanel" aria-label=${tabTitles[state.tab]}>
      ${detail === undefined ? html`<p class="soft">Asking …</p>` : drawTab(pod, detail)}
    </div>
  `;
}

const tabTitles: Readonly<Record<Tab, string>> = {
  path: 'Path',
  trace: 'Trace',
  kernel: 'Kernel',
  events: 'Events',
};

function drawTabs(detail: PodDetail | undefined): TemplateResult {
  const differ = detail?.resources.filter(({ level }) => level === 'bad').length ?? 0;
  const hint: Partial<Record<Tab, string>> = {
    kernel: differ > 0 ? `${differ}` : '',
    events: `${detail?.events.length ?? ''}`,
  };
  return html`<div class="tabs" role="tablist" aria-label="Details">
    ${tabs.map(
      (tab) =>
        html`<button
          type="button"
          role="tab"
          id=${`tab-${tab}`}
          aria-selected=${tab === state.tab ? 'true' : 'false'}
          aria-controls="tabPanel"
          tabindex=${tab === state.tab ? 0 : -1}
          @click=${() => change({ tab })}
        >
          ${tabTitles[tab]}${hint[tab] ? html` <span class="hint ${tab === 'kernel' ? 'bad' : ''}">${hint[tab]}</span>` : nothing}
        </button>`,
    )}
  </div>`;
}

function drawTab(pod: PodRow, detail: PodDetail): TemplateResult {
  switch (state.tab) {
    case 'path':
      return drawPathTab(pod, detail);
    case 'trace':
      return drawWaterfall(detail.waterfall);
    case 'kernel':
      return drawResources(detail.resources, detail.notes);
    case 'events':
      return drawEvents(detail);
  }
}

function drawPathTab(
  { addresses: own, since }: PodRow,
  { path, containers, facts, conditions, notes }: PodDetail,
): TemplateResult {
  return html`
    ${
      path.length === 0
        ? empty('No network yet', 'The pod has no endpoint of this agent.')
        : html`<ol class="path">
            ${path.map(drawStep)}
          </ol>`
    }
    ${notes.map((note) => html`<p class="note">${note}</p>`)}
    ${
      containers.length === 0
        ? nothing
        : html`<h3>Containers</h3>
            <ul class="rows">
              ${containers.map(
                ({ name, image, level, state: text, restarts }) =>
                  html`<li>
                    <strong>${name}</strong>${badge(level, text)}<span class="soft"
                      >${image}${restarts > 0 ? `, ${plural(restarts, 'restart')}` : ''}</span
                    >
                  </li>`,
              )}
            </ul>`
    }
    ${
      conditions.length === 0
        ? nothing
        : html`<h3>Conditions</h3>
            <ul class="rows">
              ${conditions.map(
                ({ type, status, message }) =>
                  html`<li>
                    <strong>${type}</strong>${badge(status === 'True' ? 'good' : 'busy', status)}<span
                      class="soft"
                      >${message}</span
                    >
                  </li>`,
              )}
            </ul>`
    }
    <h3>Facts</h3>
    <dl class="facts">
      <div>
        <dt>Addresses</dt>
        <dd class="code">${addresses(own)}</dd>
      </div>
      <div>
        <dt>Age</dt>
        <dd>${age(since)}</dd>
      </div>
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd class="code">${value}</dd>
          </div>`,
      )}
    </dl>
  `;
}

const drawStep = ({ where, title, lines, level }: PathStep): TemplateResult => html`
  <li class=${level}>
    <span class="where">${where}</span>
    <strong class="code">${title}</strong>
    ${lines.map((line) => html`<span class="line">${line}</span>`)}
    ${level === 'bad' ? html`<span class="line">${badge('bad', 'differs')}</span>` : nothing}
  </li>
`;

function drawResources(resources: readonly ResourceRow[], notes: readonly string[]): TemplateResult {
  const differ = resources.filter(({ level }) => level === 'bad');
  const shown = state.driftOnly ? differ : resources;
  if (resources.length === 0)
    return html`${notes.map((note) => html`<p class="note">${note}</p>`)}${empty('Nothing planned', 'There is no record of this endpoint.')}`;
  return html`
    <p class="summary">
      ${
        differ.length === 0
          ? badge('good', `all ${resources.length} are in the kernel as planned`)
          : badge('bad', `${differ.length} of ${resources.length} differ; podwire reconcile repairs them now`)
      }
      <label class="check"
        ><input
          type="checkbox"
          .checked=${state.driftOnly}
          @change=${() => change({ driftOnly: !state.driftOnly })}
        />
        only what differs</label
      >
    </p>
    <table class="resources">
      <caption class="unseen">
        Planned resources beside what the kernel has
      </caption>
      <thead>
        <tr>
          <th scope="col">Where</th>
          <th scope="col">Planned</th>
          <th scope="col">In the kernel</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          ({ where, what, level, detail }) =>
            html`<tr class=${level}>
              <td class="soft">${where}</td>
              <td class="code">${what}</td>
              <td>
                ${level === 'good' ? html`<span class="asPlanned">as planned</span>` : badge('bad', detail)}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  `;
}

function drawEvents({ events }: PodDetail): TemplateResult {
  if (events.length === 0)
    return empty('No events', 'Events come from the pod agent; other runtimes keep their own.');
  return html`<ul class="events">
    ${events.map(
      ({ at, level, reason, message, count }) =>
        html`<li>
          <time title=${formatTime(at, state.now)}>${age(at)}</time>${badge(level, reason)}<span
            >${message}${count > 1 ? html` <span class="soft">${count} times</span>` : nothing}</span
          >
        </li>`,
    )}
  </ul>`;
}

function drawNode(node: NodeRow | undefined): TemplateResult {
  const detail = state.node;
  return html`
    ${
      node === undefined
        ? nothing
        : html`<p class="headline">${badge(node.level, node.state)}</p>
            ${node.reasons.map((each) => html`<p class="note bad">${each}</p>`)}`
    }
    <h3>What all pods of this node share</h3>
    ${detail === undefined ? html`<p class="soft">Asking …</p>` : drawResources(detail.resources, detail.notes)}
  `;
}
