import assert from 'node:assert/strict';
import { type AnyObject, referenceOf } from '../contract.js';
import { namespaceObject, policy, policyReference, providerNetwork, rejectsAs, vlan } from './tools.js';
import type { SourceCase } from './target.js';

const origin = { file: 'web.yaml', line: 3, lines: { 'spec.ingress.0': 9 } };

export const writeCases: readonly SourceCase[] = [
  {
    title: 'an object is read as it was saved, with its revision',
    run: async ({ source, another }, name) => {
      const saved = await source.save(policy(name), origin);
      assert.equal(saved.outcome, 'created');
      const read = await (await another()).get(policyReference(name));
      assert.deepEqual(read?.object, policy(name));
      assert.equal(read.revision, saved.revision);
      assert.ok((read.origin?.line ?? 0) > 0 && (read.origin?.lines?.['spec.ingress.0'] ?? 0) > 0);
      assert.ok((read.created ?? 0) > 1_000_000_000_000);
    },
  },
  {
    title: 'what is not there is no error',
    run: async ({ source }, name) => {
      assert.equal(await source.get(policyReference(name)), undefined);
      assert.equal((await source.delete(policyReference(name))).deleted, false);
    },
  },
  {
    title: 'an object that others need is deleted after them',
    run: async ({ source, another }, name) => {
      const provider = providerNetwork(name);
      const user = { ...vlan(name, 7), spec: { id: 7, provider: name } };
      await source.save(provider, undefined);
      await source.save(user, undefined);
      const other = await another();
      await rejectsAs(other.delete(referenceOf(provider)), 'OBJECT_IN_USE');
      await rejectsAs(other.delete(referenceOf(provider), { dryRun: true }), 'OBJECT_IN_USE');
      assert.ok(await source.get(referenceOf(provider)));
      for (const object of [user, provider])
        assert.equal((await other.delete(referenceOf(object))).deleted, true);
    },
  },
  {
    title: 'the same object again changes nothing; another one grows the revision',
    run: async ({ source }, name) => {
      const first = await source.save(policy(name), origin);
      const again = await source.save(policy(name), origin);
      assert.deepEqual(again, { outcome: 'unchanged', revision: first.revision });
      const changed = await source.save(policy(name, 81), origin);
      assert.equal(changed.outcome, 'configured');
      assert.ok(changed.revision > first.revision);
    },
  },
  {
    title: 'defaults are filled in before anything is kept',
    run: async ({ source }, name) => {
      const bare = { ...policy(name), spec: { ingress: [{}] } } as unknown as AnyObject;
      await source.save(bare, undefined);
      const { object } = (await source.get(policyReference(name)))!;
      assert.deepEqual((object as ReturnType<typeof policy>).spec.policyTypes, ['Ingress']);
    },
  },
  {
    title: 'what does not fit its kind is refused, and what was there stays',
    run: async ({ source }, name) => {
      await source.save(policy(name), origin);
      const wrong = { ...policy(name), spec: { podSelectr: {} } } as unknown as AnyObject;
      await rejectsAs(source.save(wrong, origin), 'OBJECT_INVALID');
      assert.deepEqual((await source.get(policyReference(name)))?.object, policy(name));
    },
  },
  {
    title: 'a second creation is a conflict',
    run: async ({ source, another }, name) => {
      await source.save(policy(name), origin, { expect: 'absent' });
      await rejectsAs(
        (await another()).save(policy(name, 81), origin, { expect: 'absent' }),
        'OBJECT_CONFLICT',
      );
      assert.deepEqual((await source.get(policyReference(name)))?.object, policy(name));
    },
  },
  {
    title: 'a lost update is a conflict',
    run: async ({ source, another }, name) => {
      const { revision: expect } = await source.save(policy(name), origin);
      await (await another()).save(policy(name, 81), origin, { expect });
      await rejectsAs(source.save(policy(name, 82), origin, { expect }), 'OBJECT_CONFLICT');
      await rejectsAs(source.delete(policyReference(name), { expect }), 'OBJECT_CONFLICT');
      assert.deepEqual((await source.get(policyReference(name)))?.object, policy(name, 81));
    },
  },
  {
    title: 'of many writers that have read the same, one wins',
    run: async ({ source, another }, name) => {
      const { revision: expect } = await source.save(policy(name), origin);
      const writers = await Promise.all(Array.from({ length: 8 }, () => another()));
      const results = await Promise.allSettled(
        writers.map((writer, index) => writer.save(policy(name, 100 + index), origin, { expect })),
      );
      const won = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
      assert.equal(won.length, 1);
      assert.deepEqual((await source.get(policyReference(name)))?.object, policy(name, 100 + won[0]!));
    },
  },
  {
    title: 'a dry run checks everything and writes nothing',
    run: async ({ source }, name) => {
      assert.equal((await source.save(policy(name), origin, { dryRun: true })).outcome, 'created');
      assert.equal(await source.get(policyReference(name)), undefined);
      const { revision } = await source.save(policy(name), origin);
      assert.equal((await source.save(policy(name, 81), origin, { dryRun: true })).outcome, 'configured');
      await rejectsAs(
        source.save(policy(name, 81), origin, { dryRun: true, expect: 'absent' }),
        'OBJECT_CONFLICT',
      );
      assert.equal((await source.delete(policyReference(name), { dryRun: true })).deleted, true);
      assert.equal((await source.get(policyReference(name)))?.revision, revision);
    },
  },
  {
    title: 'a deletion grows the revision, and the object can come again',
    run: async ({ source }, name) => {
      const { revision } = await source.save(policy(name), origin);
      const gone = await source.delete(policyReference(name), { expect: revision });
      assert.ok(gone.deleted && gone.revision > revision);
      assert.equal(await source.get(policyReference(name)), undefined);
      const again = await source.save(policy(name), origin, { expect: 'absent' });
      assert.ok(again.revision > gone.revision);
    },
  },
  {
    title: 'kinds and namespaces are apart',
    run: async ({ source }, name) => {
      await source.save(policy(name, 80, `${name}-a`), undefined);
      await source.save(policy(name, 81, `${name}-b`), undefined);
      await source.save(namespaceObject(name, { tier: 'x' }), undefined);
      const { objects } = await source.list({ namespace: `${name}-a` });
      assert.deepEqual(
        objects.map(({ object }) => object),
        [policy(name, 80, `${name}-a`)],
      );
      const { objects: namespaces } = await source.list({ kinds: [{ apiVersion: 'v1', kind: 'Namespace' }] });
      const own = namespaces.filter(({ object }) => object.metadata.name === name);
      assert.deepEqual(
        own.map(({ object }) => object),
        [namespaceObject(name, { tier: 'x' })],
      );
    },
  },
  {
    title: 'a status stays where an object comes without one',
    run: async ({ source }, name) => {
      const reference = { apiVersion: 'kubeovn.io/v1', kind: 'Vlan', name };
      const status = { subnets: ['shop'] };
      await source.save(vlan(name, 10, status), origin);
      assert.equal((await source.save(vlan(name, 10), origin)).outcome, 'unchanged');
      await source.save(vlan(name, 20), origin);
      assert.deepEqual((await source.get(reference))?.object, vlan(name, 20, status));
      await source.save(vlan(name, 20, { subnets: [] }), origin);
      assert.deepEqual((await source.get(reference))?.object, vlan(name, 20, { subnets: [] }));
    },
  },
  {
    title: 'an aborted call does nothing',
    run: async ({ source }, name) => {
      const signal = AbortSignal.abort(new Error('enough'));
      await assert.rejects(source.save(policy(name), undefined, { signal }), { message: 'enough' });
      assert.equal(await source.get(policyReference(name)), undefined);
    },
  },
];
