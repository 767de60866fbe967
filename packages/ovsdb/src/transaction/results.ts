import { decodeAtom, decodeRow } from '../decode.js';
import { type FailedOperation, ProtocolError, TransactionError, unexpected } from '../errors.js';
import type { DatabaseSchema } from '../schema.js';
import { isRecord } from '../values.js';
import type { Operation } from './types.js';

/** Reads the answer to `transact`. @throws TransactionError, ProtocolError */
export function readResults(
  json: unknown,
  operations: readonly Operation[],
  schema: DatabaseSchema,
): readonly object[] {
  if (!Array.isArray(json)) throw unexpected('transact', 'a list of results', json);
  const failures = (json as readonly unknown[]).flatMap((result, index) =>
    isRecord(result) && result['error'] !== undefined ? [readFailure(result, operations[index], index)] : [],
  );
  if (failures.length > 0) throw new TransactionError(failures);
  return operations.map((operation, index) => readResult(json[index], operation, schema));
}

/** The result behind the last operation is that of the commit. */
function readFailure(
  { error, details }: { readonly [key: string]: unknown },
  operation: Operation | undefined,
  index: number,
): FailedOperation {
  const label = operation === undefined ? 'commit' : labelOf(operation);
  return {
    index,
    label,
    error: String(error),
    ...(typeof details === 'string' ? { details } : {}),
  };
}

const labelOf = (operation: Operation): string =>
  'table' in operation ? `${operation.op} ${operation.table}` : operation.op;

function readResult(json: unknown, operation: Operation, schema: DatabaseSchema): object {
  if (!isRecord(json)) throw unexpected(labelOf(operation), 'a result', json);
  switch (operation.op) {
    case 'insert':
      return { uuid: decodeAtom(json['uuid'], 'uuid', 'insert') };
    case 'select':
      return { rows: readRows(json['rows'], operation.table, schema) };
    case 'update':
    case 'mutate':
    case 'delete':
      return { count: decodeAtom(json['count'], 'integer', operation.op) };
    case 'wait':
    case 'comment':
    case 'abort':
      return {};
  }
}

function readRows(json: unknown, name: string, schema: DatabaseSchema): readonly object[] {
  const table = schema.tables.get(name);
  if (table === undefined || !Array.isArray(json)) throw new ProtocolError(`select ${name}: no rows`);
  return json.map((row) => decodeRow(row, table, `table ${name}`));
}
