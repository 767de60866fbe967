import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompiler, type CompiledState } from '../src/index.js';
import { addDelta, describeState, describeSum, emptySum, history, lastValues } from './compile-example.js';

const node = 'node-1';

describe('a compiler', () => {
  it('arrives where a new one would, and its deltas add up to its state', () => {
    fc.assert(
      fc.property(history, (calls) => {
        const compiler = createCompiler({ node });
        const sum = emptySum();
        for (const call of calls) {
          addDelta(sum, compiler.apply(call));
          expect(describeSum(sum)).toEqual(describeState(compiler.state));
        }
        const fresh = createCompiler({ node });
        fresh.apply(lastValues(calls).toReversed());
        expect(describeState(compiler.state)).toEqual(describeState(fresh.state));
      }),
      { numRuns: 400 },
    );
  });

  it('says nothing about what is told again', () => {
    fc.assert(
      fc.property(history, (calls) => {
        const compiler = createCompiler({ node });
        for (const call of calls) compiler.apply(call);
        const delta = compiler.apply(lastValues(calls));
        expect(Object.values(delta).flat()).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps no set that no rule names, and lacks none', () => {
    fc.assert(
      fc.property(history, (calls) => {
        const compiler = createCompiler({ node });
        for (const call of calls) compiler.apply(call);
        expect([...compiler.state.sets.keys()].sort()).toEqual(setsNamed(compiler.state));
      }),
      { numRuns: 200 },
    );
  });

  it('forgets everything when everything is gone', () => {
    fc.assert(
      fc.property(history, (calls) => {
        const compiler = createCompiler({ node });
        for (const call of calls) compiler.apply(call);
        compiler.apply(lastValues(calls).map((each) => ({ ...each, value: undefined })));
        const { sets, policies, endpoints } = compiler.state;
        expect([sets.size, policies.size, endpoints.size]).toEqual([0, 0, 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('inspects a pod of its node as it is in force', () => {
    fc.assert(
      fc.property(history, (calls) => {
        const compiler = createCompiler({ node });
        for (const call of calls) compiler.apply(call);
        for (const [key, endpoint] of compiler.state.endpoints) {
          if (endpoint.kind !== 'pod') continue;
          const inspection = compiler.inspect(key)!;
          expect(inspection.endpoint).toEqual(endpoint);
          for (const [id, policy] of inspection.policies)
            expect(policy).toEqual(compiler.state.policies.get(id) ?? policy);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('inspects a pod of another node as that node has it in force', () => {
    fc.assert(
      fc.property(history, (calls) => {
        const [here, there] = [createCompiler({ node }), createCompiler({ node: 'node-2' })];
        for (const call of calls) for (const compiler of [here, there]) compiler.apply(call);
        for (const [key, endpoint] of there.state.endpoints) {
          if (endpoint.kind !== 'pod') continue;
          const inspection = here.inspect(key)!;
          expect(inspection.endpoint).toEqual(endpoint);
          for (const [id, { members }] of inspection.sets)
            expect(members).toEqual(there.state.sets.get(id)?.members ?? members);
        }
      }),
      { numRuns: 200 },
    );
  });
});

const setsNamed = ({ policies }: CompiledState): string[] => {
  const rules = [...policies.values()].flatMap(({ ingress = [], egress = [] }) => [...ingress, ...egress]);
  const ids = rules.flatMap(({ source, destination }) => [...source, ...destination].map(({ set }) => set));
  return [...new Set(ids)].sort();
};
