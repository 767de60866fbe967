import fc from 'fast-check';

const names = fc.oneof(
  fc.stringMatching(/^CNI_[A-Z0-9_]{0,10}$/),
  fc.constantFrom(
    'TRACEPARENT',
    'TRACESTATE',
    'BAGGAGE',
    'TRACEPARENT_',
    'BAGGAGES',
    'CNIX',
    'XCNI_COMMAND',
    'cni_x',
  ),
);
const values = fc.string({ unit: 'binary', maxLength: 30 }).map((value) => value.replaceAll('\0', ''));
/** Variables that are carried, and others with names like theirs. */
export const environments = fc.dictionary(names, values, { noNullPrototype: true });

export const isCarried = (name: string): boolean => /^(CNI_.*|TRACEPARENT|TRACESTATE|BAGGAGE)$/.test(name);
