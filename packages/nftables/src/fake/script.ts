import { parseBody } from '../declarations.js';
import { NftablesError, refusal } from '../errors.js';
import { families, type Family } from '../protocol.js';
import { declareTable, type FakeTable } from './table.js';

/** The tables after a script. @throws NftablesError for what the fake does not understand */
export function loadScript(
  tables: ReadonlyMap<string, FakeTable>,
  script: string,
): ReadonlyMap<string, FakeTable> {
  let rest = script.trim();
  let result = new Map(tables);
  while (rest !== '') {
    const statement = firstStatement(rest);
    rest = rest.slice(statement.length).replace(/^[\s;]+/, '');
    result = carryOut(result, statement.trim());
  }
  return result;
}

/** Up to the end of the line, or of the block that begins on it. */
function firstStatement(script: string): string {
  for (let end = script.indexOf('\n'); ; end = script.indexOf('\n', end + 1)) {
    const candidate = end < 0 ? script : script.slice(0, end);
    const open = candidate.split('{').length - candidate.split('}').length;
    if (open <= 0 || end < 0) return candidate;
  }
}

function carryOut(tables: Map<string, FakeTable>, statement: string): Map<string, FakeTable> {
  if (/^flush ruleset;?$/.test(statement)) return new Map();
  const [, operation, family, name] = /^(table|delete table) (\w+) ([\w./-]+)/.exec(statement) ?? [];
  if (operation === undefined || !isFamily(family) || name === undefined) throw notUnderstood(statement);
  const place = `${family} ${name}`;
  if (operation === 'table')
    return new Map(tables).set(place, addTo(tables.get(place), family, name, statement));
  if (!tables.delete(place)) throw refusal('ENOENT', 2, statement);
  return tables;
}

const isFamily = (name: string | undefined): name is Family =>
  name !== undefined && Object.hasOwn(families, name);

/** The additions of a script stay beside what is there, and break the seal. */
function addTo(before: FakeTable | undefined, family: Family, name: string, statement: string): FakeTable {
  const [block] = parseBody(statement);
  const body =
    block === undefined ? '' : statement.slice(statement.indexOf('{') + 1, statement.lastIndexOf('}'));
  const { table } = declareTable({ family, name, body }, before);
  return {
    ...table,
    chains: [...new Set([...(before?.chains ?? []), ...table.chains])],
    sets: new Map([...(before?.sets ?? []), ...table.sets]),
    digest: undefined,
  };
}

function notUnderstood(statement: string): NftablesError {
  return new NftablesError([
    {
      label: statement,
      code: 'ENFT',
      errno: 0,
      kernelMessage: 'syntax error: the fake does not understand it',
    },
  ]);
}
