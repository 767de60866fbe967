/** Selectors of both languages over a vocabulary of labels. */
import fc from 'fast-check';
import type { LabelSelector } from '../selectors/kubernetes.js';
import type { LabelVocabulary } from './vocabulary.js';

/** A key with some of its values. */
const arbitraryPair = ({ keys, values }: LabelVocabulary): fc.Arbitrary<{ key: string; value: string }> =>
  fc.constantFrom(...keys).chain((key) => fc.constantFrom(...values(key)).map((value) => ({ key, value })));

const arbitraryChoice = ({
  keys,
  values,
}: LabelVocabulary): fc.Arbitrary<{ key: string; values: string[] }> =>
  fc
    .constantFrom(...keys)
    .chain((key) =>
      fc
        .uniqueArray(fc.constantFrom(...values(key)), { minLength: 1, maxLength: 2 })
        .map((chosen) => ({ key, values: chosen })),
    );

export function arbitraryLabelSelector(vocabulary: LabelVocabulary): fc.Arbitrary<LabelSelector> {
  const labels = arbitraryPair(vocabulary).map(({ key, value }) => ({ [key]: value }));
  const expression = fc.oneof(
    arbitraryChoice(vocabulary).chain((choice) =>
      fc.constantFrom('In', 'NotIn').map((operator) => ({ ...choice, operator })),
    ),
    fc.record({
      key: fc.constantFrom(...vocabulary.keys),
      operator: fc.constantFrom('Exists', 'DoesNotExist'),
    }),
  );
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 4, arbitrary: labels.map((matchLabels) => ({ matchLabels })) },
    {
      weight: 3,
      arbitrary: fc
        .array(expression, { minLength: 1, maxLength: 2 })
        .map((matchExpressions) => ({ matchExpressions })),
    },
    { weight: 1, arbitrary: fc.record({ matchLabels: labels, matchExpressions: fc.tuple(expression) }) },
  );
}

/** Text in Calico's grammar, with all its operators. */
export function arbitraryCalicoSelector(vocabulary: LabelVocabulary): fc.Arbitrary<string> {
  const quoted = fc.constantFrom("'", '"').map((mark) => (text: string) => `${mark}${text}${mark}`);
  const comparison = fc
    .tuple(arbitraryPair(vocabulary), fc.constantFrom('==', '!='), quoted)
    .map(([{ key, value }, operator, quote]) => `${key} ${operator} ${quote(value)}`);
  const part = fc
    .tuple(
      arbitraryPair(vocabulary),
      fc.constantFrom('contains', 'starts with', 'ends with'),
      fc.nat({ max: 2 }),
    )
    .map(
      ([{ key, value }, operator, cut]) =>
        `${key} ${operator} '${operator === 'ends with' ? value.slice(cut) : value.slice(0, cut + 1)}'`,
    );
  const membership = fc
    .tuple(arbitraryChoice(vocabulary), fc.constantFrom('in', 'not in'))
    .map(
      ([{ key, values }, operator]) =>
        `${key} ${operator} {${values.map((value) => `'${value}'`).join(', ')}}`,
    );
  const presence = fc.constantFrom(...vocabulary.keys).map((key) => `has(${key})`);
  const simple = fc.oneof(
    { weight: 4, arbitrary: comparison },
    { weight: 1, arbitrary: part },
    { weight: 2, arbitrary: membership },
    { weight: 2, arbitrary: presence },
    { weight: 2, arbitrary: fc.constant('all()') },
  );
  return fc.oneof({ weight: 5, arbitrary: simple }, { weight: 2, arbitrary: combine(simple) });
}

function combine(simple: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const term = fc.oneof(
    simple,
    simple.map((text) => `!(${text})`),
    simple.filter((text) => text.startsWith('has') || text.startsWith('all')).map((text) => `!${text}`),
  );
  const joined = fc
    .tuple(term, fc.constantFrom('&&', '||'), term, fc.constantFrom('&&', '||'), term)
    .map(([a, one, b, two, c]) => `${a} ${one} ${b} ${two} ${c}`);
  const grouped = fc
    .tuple(term, fc.constantFrom('&&', '||'), term, term)
    .map(([a, operator, b, c]) => `${a} ${operator} (${b} || ${c})`);
  return fc.oneof(
    term,
    fc.tuple(term, fc.constantFrom('&&', '||'), term).map(([a, operator, b]) => `${a} ${operator} ${b}`),
    joined,
    grouped,
  );
}
