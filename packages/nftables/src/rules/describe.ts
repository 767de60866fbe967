/** Rules as nft writes them, for messages and screens. */
import type { Field, FieldValue, RuleDeclaration, Statement } from './statement.js';

/** `ip saddr @web tcp dport 80 accept comment "policy web/a"` */
export function describeRule({ statements, comment }: RuleDeclaration): string {
  const note = comment === undefined ? [] : [`comment ${JSON.stringify(comment)}`];
  return [...statements.map(describeStatement), ...note].join(' ');
}

export function describeStatement(statement: Statement): string {
  switch (statement.is) {
    case 'match': {
      const { field, op, value, mask } = statement;
      const masked = mask === undefined ? nameOf(field) : `${nameOf(field)} & ${hex(mask)}`;
      const operator = mask === undefined ? operatorOf(op) : `${op ?? '=='} `;
      return `${masked} ${operator}${describeValue(field, value)}`;
    }
    case 'range':
      return `${nameOf(statement.field)} ${operatorOf(statement.op)}${statement.first}-${statement.last}`;
    case 'ct-state':
      return `ct state ${statement.states.join(',')}`;
    case 'ct-status':
      return `ct status ${statement.status}`;
    case 'lookup':
      return `${describeFields(statement.fields)} ${statement.negate === true ? '!= ' : ''}@${statement.set}`;
    case 'vmap':
      return `${describeFields(statement.fields)} vmap @${statement.map}`;
    default:
      return describeAction(statement);
  }
}

type Action = Exclude<Statement, { is: 'match' | 'range' | 'ct-state' | 'ct-status' | 'lookup' | 'vmap' }>;

function describeAction(statement: Action): string {
  switch (statement.is) {
    case 'log': {
      const { prefix, group, snaplen } = statement;
      const length = snaplen === undefined ? '' : ` snaplen ${snaplen}`;
      return `log prefix ${JSON.stringify(prefix)} group ${group}${length}`;
    }
    case 'limit':
      return `limit rate ${statement.perSecond}/second burst ${statement.burst} packets`;
    case 'set-mark': {
      const { target, value, mask } = statement;
      const name = nameOf(target);
      if (mask === undefined) return `${name} set ${hex(value)}`;
      return `${name} set ${name} & ${hex(~mask)} | ${hex(value & mask)}`;
    }
    case 'jump':
    case 'goto':
      return `${statement.is} ${statement.chain}`;
    default:
      return statement.is;
  }
}

const metaFields: ReadonlySet<Field> = new Set(['nfproto', 'l4proto', 'mark']);

const nameOf = (field: Field): string => (metaFields.has(field) ? `meta ${field}` : field);

const describeFields = (fields: readonly Field[]): string => fields.map(nameOf).join(' . ');

const operatorOf = (op: '==' | '!=' | undefined): string => (op === '!=' ? '!= ' : '');

const hex = (value: number): string => `0x${(value >>> 0).toString(16).padStart(8, '0')}`;

function describeValue(field: Field, value: FieldValue): string {
  if (field === 'iifname' || field === 'oifname') return JSON.stringify(value);
  return typeof value === 'number' && field.endsWith('mark') ? hex(value) : String(value);
}
