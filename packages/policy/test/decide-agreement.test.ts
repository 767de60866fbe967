import fc from 'fast-check';
import { familyOf } from '@podwire/addresses';
import { expect, it } from 'vitest';
import { type Connection, createCompiler, decideConnection, type InputChange } from '../src/index.js';
import { history, lastValues } from './compile-example.js';
import { Interpreter } from './interpret.js';

const packet = fc.record({
  protocol: fc.constantFrom(6, 17, 1, 58, 47),
  other: fc.tuple(fc.nat(7), fc.nat(1)),
  source: fc.integer({ min: 80, max: 84 }),
  destination: fc.integer({ min: 80, max: 84 }),
  icmpType: fc.constantFrom(0, 8),
});

/** Where two pods have one address, which of them is meant is no question of policy. */
function keepOneOwner(inputs: readonly InputChange[]): InputChange[] {
  const taken = new Set<string>();
  return inputs.filter((each) => {
    if (each.topic !== 'pod' || each.value === undefined) return true;
    if (each.value.addresses.some((address) => taken.has(address))) return false;
    for (const address of each.value.addresses) taken.add(address);
    return true;
  });
}

it('decides on the compiled form as on the normal form', () => {
  fc.assert(
    fc.property(history, fc.array(packet, { minLength: 1, maxLength: 12 }), (calls, packets) => {
      const inputs = keepOneOwner(lastValues(calls));
      const compiler = createCompiler({ node: 'node-1' });
      compiler.apply(inputs);
      const broken = new Set(
        [...compiler.state.policies.values()].flatMap((each) => (each.broken === undefined ? [] : [each.id])),
      );
      const interpreter = new Interpreter(inputs);
      for (const { key, kind } of compiler.state.endpoints.values()) {
        if (kind !== 'pod') continue;
        const { pod, endpoint } = compiler.inspect(key)!;
        for (const own of pod.addresses)
          for (const each of packets)
            for (const direction of ['ingress', 'egress'] as const) {
              const connection = connect(own, direction, each);
              const decision = decideConnection(compiler.state, { direction, endpoint, connection });
              const wanted = interpreter.decide(pod, direction, connection, broken);
              expect({ key, direction, connection, verdict: decision.verdict }).toEqual({
                key,
                direction,
                connection,
                verdict: wanted ? 'allow' : 'deny',
              });
            }
      }
    }),
    { numRuns: 1000 },
  );
});

type Packet = typeof packet extends fc.Arbitrary<infer T> ? T : never;

function connect(
  own: string,
  direction: 'ingress' | 'egress',
  { protocol, other, source, destination, icmpType }: Packet,
): Connection {
  const [last] = other;
  const peer = familyOf(own) === 4 ? `10.0.0.${last}` : `fd00::${last === 0 ? '' : last}`;
  const hasPorts = protocol === 6 || protocol === 17;
  const ends =
    direction === 'ingress' ? { source: peer, destination: own } : { source: own, destination: peer };
  if (!hasPorts) return { ...ends, protocol, icmpType, icmpCode: 0 };
  return { ...ends, protocol, sourcePort: source, destinationPort: destination };
}
