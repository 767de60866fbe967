import assert from 'node:assert/strict';
import { follow, policy, policyReference } from './tools.js';
import type { SourceCase } from './target.js';

export const watchCases: readonly SourceCase[] = [
  {
    title: 'a watch begins with what is there, and tells what others write',
    run: async ({ source, another }, name) => {
      await source.save(policy(`${name}-a`), undefined);
      const watched = follow((signal) => source.watch({ signal }));
      await watched.until((state) => state.get(`${name}-a`)?.type === 'put');
      assert.equal(watched.batches[0]?.type, 'snapshot');
      const writer = await another();
      const { revision } = await writer.save(policy(`${name}-b`), undefined);
      await watched.until((state) => state.get(`${name}-b`)?.type === 'put');
      assert.ok(watched.batches.at(-1)!.revision >= revision);
      await watched.end();
    },
  },
  {
    title: 'a watch tells changes and deletions, with revisions that a writer can wait for',
    run: async ({ source, another }, name) => {
      const writer = await another();
      await writer.save(policy(name), undefined);
      const watched = follow((signal) => source.watch({ signal }));
      await watched.until((state) => state.get(name)?.type === 'put');
      const changed = await writer.save(policy(name, 81), undefined);
      await watched.until((state) => {
        const change = state.get(name);
        return change?.type === 'put' && change.stored.revision >= changed.revision;
      });
      const gone = await writer.delete(policyReference(name));
      await watched.until((state) => {
        const change = state.get(name);
        return change === undefined || change.type === 'delete';
      });
      await watched.until(() => watched.batches.at(-1)!.revision >= gone.revision);
      await watched.end();
    },
  },
  {
    title: 'what cannot be read is told as such, beside the good ones, in lists and watches',
    run: async ({ source, spoil }, name) => {
      await source.save(policy(`${name}-good`), undefined);
      const watched = follow((signal) => source.watch({ signal }));
      await watched.until((state) => state.has(`${name}-good`));
      await spoil(`${name}-bad`);
      const state = await watched.until((all) => all.get(`${name}-bad`)?.type === 'unreadable');
      assert.equal(state.get(`${name}-good`)?.type, 'put');
      await watched.end();
      const { objects, unreadable } = await source.list();
      assert.ok(objects.some(({ object }) => object.metadata.name === `${name}-good`));
      const bad = unreadable.find(({ reference }) => reference.name === `${name}-bad`);
      assert.ok(bad !== undefined && bad.problems.length > 0);
      assert.equal(bad.reference.kind, 'NetworkPolicy');
      assert.ok(bad.content !== undefined);
      const again = await source.save(policy(`${name}-other`), undefined);
      assert.equal(again.outcome, 'created');
    },
  },
  {
    title: 'a watch ends with its signal',
    run: async ({ source }, name) => {
      await source.save(policy(name), undefined);
      const watched = follow((signal) => source.watch({ signal }));
      await watched.until((state) => state.has(name));
      await watched.end();
    },
  },
];
