import type { Resource } from '@podwire/engine';
import { type Derivations, Planner, type Read } from '@podwire/planner';
import { describe, expect, test } from 'vitest';
import { keyOf } from './model-kernel.js';
import { createPlanner, derivations, type FactMap, planPeer } from './model-plans.js';

declare module '@podwire/planner' {
  interface FactKinds {
    /** Derived in tests: texts of anything. */
    text: string;
  }
}

/** Plans of scopes that each read one text, as a route that is called so. */
function readTexts(facts: FactMap, text: (id: string, read: Read) => string) {
  const computed: string[] = [];
  const errors: string[] = [];
  const all: Derivations = {
    ...derivations,
    text(id, read) {
      computed.push(id);
      return text(id, read);
    },
  };
  const planner = new Planner<Resource>({
    plan: (scope, read) => [
      { kind: 'route', in: 'host', destination: scope, link: read(`text/${scope.slice('peer/'.length)}`) },
    ],
    sources: { underlay: () => facts.get('underlay') as string },
    derivations: all,
    keyOf,
    onPlanError: (scope, error) => errors.push(`${scope}: ${(error as Error).message}`),
  });
  const links = () => [...planner.planned().values()].map((route) => ('link' in route ? route.link : ''));
  return { planner, computed, errors, links };
}

describe('a derived fact', () => {
  test('is computed once for all its readers, and again only when what it has read changes', () => {
    const facts: FactMap = new Map([['underlay', 'eth0']]);
    const { planner, computed } = readTexts(facts, (id, read) =>
      id === 'deep' ? read('medium') : read('text/deep'),
    );
    for (const scope of ['peer/a', 'peer/deep']) planner.markScope(scope);
    planner.replan();
    expect(computed).toEqual(['a', 'deep']);
    planner.markScope('peer/a');
    planner.replan();
    expect(computed).toHaveLength(2);
  });

  test('makes its readers run again only when its value is another one', () => {
    const facts: FactMap = new Map([['underlay', 'eth0']]);
    const { planner, computed, links } = readTexts(facts, (_, read) => read('medium'));
    for (const scope of ['peer/a', 'peer/b']) planner.markScope(scope);
    planner.replan();
    computed.length = 0;
    facts.set('underlay', 'eth1');
    planner.noteChanged(['underlay']);
    expect(planner.replan()).toEqual([]);
    expect(computed).toEqual([]);
    facts.set('underlay', 'wlan0');
    planner.noteChanged(['underlay']);
    expect(planner.replan()).toEqual(['peer/a', 'peer/b']);
    expect(links()).toEqual(['wlan', 'wlan']);
  });

  test('is never an old value in a plan that runs at once, however far it is derived', () => {
    const facts: FactMap = new Map([['underlay', 'eth0']]);
    const { planner, links } = readTexts(facts, (id, read) =>
      id === '3' ? read('medium') : read(`text/${Number(id) + 1}`),
    );
    planner.planNow('peer/1');
    facts.set('underlay', 'wlan0');
    planner.noteChanged(['underlay']);
    planner.planNow('peer/1');
    expect(links()).toEqual(['wlan']);
  });

  test('is compared by content', () => {
    const values = [{ nested: [1, { two: 2 }] }, { nested: [1, { two: 2 }] }, { nested: [1, { two: 3 }] }];
    const facts: FactMap = new Map([['underlay', '0']]);
    const planned: string[] = [];
    const planner = createPlanner(facts, {
      plan(scope, read) {
        planned.push(JSON.stringify(read('medium')));
        return [];
      },
      derivations: { medium: (_, read) => values[Number(read('underlay'))] as unknown as string },
    });
    planner.markScope('peer/a');
    for (const value of ['0', '1', '2']) {
      facts.set('underlay', value);
      planner.noteChanged(['underlay']);
      planner.replan();
    }
    expect(planned).toEqual([JSON.stringify(values[0]), JSON.stringify(values[2])]);
  });

  test('is forgotten with its last reader', () => {
    const facts: FactMap = new Map<string, unknown>([
      ['underlay', 'eth0'],
      ['peer/a', { address: '192.0.2.1', blocks: ['10.0.0.0/26'] }],
    ]);
    let computed = 0;
    const planner = createPlanner(facts, {
      plan: planPeer,
      derivations: {
        ...derivations,
        gateway(id, read) {
          computed += 1;
          return derivations.gateway!(id, read);
        },
      },
    });
    planner.markScope('peer/a');
    planner.replan();
    facts.set('peer/a', undefined);
    planner.noteChanged(['peer/a']);
    planner.replan();
    const before = computed;
    facts.set('underlay', 'wlan0');
    planner.noteChanged(['underlay', 'peer/a']);
    planner.replan();
    expect(computed).toBe(before);
  });

  test('fails with the names of its circle, and recovers when the circle opens', () => {
    const facts: FactMap = new Map([['underlay', 'eth0']]);
    const next: Record<string, string> = { a: 'b', b: 'c', c: 'a' };
    const { planner, errors, links } = readTexts(facts, (id, read) =>
      id === 'c' && read('underlay') === 'wlan0' ? 'the end' : read(`text/${next[id]!}`),
    );
    for (const scope of ['peer/a', 'peer/c']) planner.markScope(scope);
    planner.replan();
    const circle = 'facts are derived from each other: text/a → text/b → text/c → text/a';
    expect(errors[0]).toBe(`peer/a: ${circle}`);
    expect(errors[1]).toMatch(/^peer\/c: .* text\/c → text\/a → text\/b/);
    expect(() => planner.isInForce(['peer/a'])).toThrow(circle);
    facts.set('underlay', 'wlan0');
    planner.noteChanged(['underlay']);
    expect(planner.replan()).toHaveLength(2);
    expect(links()).toEqual(['the end', 'the end']);
    facts.set('underlay', 'eth0');
    planner.noteChanged(['underlay']);
    planner.replan();
    expect(errors).toHaveLength(4);
  });

  test('fails in a circle also where a fact catches the error', () => {
    const facts: FactMap = new Map([['underlay', 'eth0']]);
    const { planner, errors } = readTexts(facts, (id, read) => {
      try {
        return `${read(id === 'a' ? 'text/b' : 'text/a')}!`;
      } catch {
        return read('underlay');
      }
    });
    planner.markScope('peer/a');
    for (const underlay of ['eth0', 'eth1']) {
      facts.set('underlay', underlay);
      planner.noteChanged(['underlay']);
      planner.replan();
    }
    expect(errors[0]).toContain('text/a → text/b → text/a');
    expect(() => planner.isInForce(['peer/a'])).toThrow('derived from each other');
  });

  test('that no source has is an error that names its kind', () => {
    const { planner } = readTexts(new Map(), (_, read) => read('peer/a')?.address ?? '');
    expect(() => planner.planNow('peer/a')).toThrow('no source has facts of kind peer');
  });
});
