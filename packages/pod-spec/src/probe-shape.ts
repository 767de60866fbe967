/** Probes and hooks of containers. */
import type { Probe, ProbeAction } from './pod.js';
import type { Field } from './field.js';
import { headerRule } from '@podwire/apimachinery';
import {
  emptyAsAbsent,
  integer,
  listOf,
  type Maybe,
  mostInt32,
  name,
  object,
  oneOf,
  optional,
  type Reader,
  required,
  text,
  withDefault,
} from './readers.js';

const exec = object({ command: readCommand });

function readCommand(field: Field): string[] {
  const command = listOf(required(text, ''))(field);
  if (command.length === 0) field.complain('must have the program and its arguments');
  return command;
}

const grpc = object({
  port: required(integer(1, 65_535), 1),
  service: withDefault(text, ''),
});

/** A number, or the name of a port of the container. */
const port: Maybe<number | string> = (field) => {
  if (field.absent) return undefined;
  if (typeof field.value === 'string' && /[a-z]/.test(field.value)) return field.value;
  return integer(1, 65_535)(field);
};

const tcpSocket = object({ port: required(port, 1), host: emptyAsAbsent(text) });

const httpGet = object({
  path: withDefault(emptyAsAbsent(text), '/'),
  port: required(port, 1),
  host: emptyAsAbsent(text),
  scheme: withDefault(oneOf('HTTP', 'HTTPS'), 'HTTP'),
  httpHeaders: listOf(object({ name: required(name(headerRule), 'x'), value: withDefault(text, '') })),
});

const actions = {
  exec: optional(exec),
  httpGet: optional(httpGet),
  tcpSocket: optional(tcpSocket),
  grpc: optional(grpc),
};
const actionNames = Object.keys(actions);

/** `{}` counts: a key with an empty map is an action with fields missing, not the lack of one. */
function checkOneAction(field: Field, names: readonly string[]): void {
  if (field.absent) return;
  const present = field.keys().filter((key) => names.includes(key));
  if (present.length === 1) return;
  const found = present.length === 0 ? 'has none' : `has ${present.join(' and ')}`;
  field.complain(`must have exactly one of ${names.join(', ')}; it ${found}`);
}

const hookActions = { exec: actions.exec, httpGet: actions.httpGet, tcpSocket: actions.tcpSocket };

function readHook(field: Field): ProbeAction {
  checkOneAction(field, Object.keys(hookActions));
  return object(hookActions, { refused: { sleep: 'run sleep with exec instead' } })(field);
}

export const lifecycle = object(
  { postStart: optional(readHook), preStop: optional(readHook) },
  { refused: { stopSignal: 'the image says which signal ends its process' } },
);

const count = integer(0, mostInt32);
/** 0 is how the API writes "the default". */
const countOr =
  (fallback: number): Reader<number> =>
  (field) =>
    count(field) || fallback;

const probeShape = {
  ...actions,
  initialDelaySeconds: withDefault(count, 0),
  periodSeconds: countOr(10),
  timeoutSeconds: countOr(1),
  successThreshold: countOr(1),
  failureThreshold: countOr(3),
  terminationGracePeriodSeconds: integer(1, mostInt32),
};

export function probe(kind: 'liveness' | 'readiness' | 'startup'): Reader<Probe> {
  const shape = object(probeShape);
  return (field) => {
    checkOneAction(field, actionNames);
    const read = shape(field);
    if (kind !== 'readiness' && read.successThreshold !== 1) {
      field.at('successThreshold').complain(`must be 1 for a ${kind} probe, is ${read.successThreshold}`);
    }
    if (kind === 'readiness' && read.terminationGracePeriodSeconds !== undefined) {
      field
        .at('terminationGracePeriodSeconds')
        .complain('has no meaning for a readiness probe, which ends nothing');
    }
    return read;
  };
}
