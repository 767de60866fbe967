import type { NetlinkConnection } from '@podwire/netlink';
import { checkName, type Declaration, elementsIn, parseBody } from './declarations.js';
import type { SetDeclaration } from './decode.js';
import type { ElementChange } from './element.js';
import { loadRuleset, type NftOptions, runNft } from './program.js';
import {
  digestTable,
  readDigest,
  SEAL_SET,
  sealElements,
  type TableDeclaration,
  unchangedSets,
} from './seal.js';
import { readStructure, type Structure } from './structure.js';

/** Result for a table and its sets. */
export interface AppliedTable {
  /** False when the table stood as declared already; nft was not started then. */
  readonly changed: boolean;
  /** Sets that were declared differently before, or not known to be the same: made anew with their contents. */
  readonly recreated: readonly string[];
  /** Sets whose contents are gone: no longer declared, or with other types than before. */
  readonly emptied: readonly string[];
}

const UNCHANGED: AppliedTable = { changed: false, recreated: [], emptied: [] };

/**
 * Makes a table what its declaration says, in one transaction of nft: rules, chains and objects are written anew, sets
 * stay with their contents. A set with another declaration is made anew and filled with what was in it.
 * Chains, sets and objects that are not declared are deleted.
 * @throws NftProgramError; the table is as it was then.
 */
export async function applyTable(
  connection: NetlinkConnection,
  declaration: TableDeclaration,
  options: NftOptions,
  write: (elements: readonly ElementChange[]) => void,
): Promise<AppliedTable> {
  const { family, name } = declaration;
  if (readDigest(connection, family, checkName(name)) === digestTable(declaration)) return UNCHANGED;
  const declarations = parseBody(declaration.body);
  const before = readStructure(connection, family, name);
  const kept = before === undefined ? new Set<string>() : unchangedSets(connection, before, declarations);
  const contents = await readContents(before, kept, declarations, options);
  await loadRuleset(writeScript(declaration, declarations, before, kept, contents), options);
  const after = readStructure(connection, family, name);
  if (after !== undefined) write(sealElements(declaration, declarations, after));
  return outcome(before, kept, contents);
}

function outcome(
  before: Structure | undefined,
  kept: ReadonlySet<string>,
  contents: ReadonlyMap<string, string | undefined>,
): AppliedTable {
  const remade = (before?.sets ?? [])
    .map(({ name }) => name)
    .filter((name) => !kept.has(name) && name !== SEAL_SET);
  return {
    changed: true,
    recreated: remade.filter((name) => contents.has(name)),
    emptied: remade.filter((name) => !contents.has(name)),
  };
}

/** Content of the sets that must be made anew, as nft writes it. Sets whose types change are not among them. */
async function readContents(
  before: Structure | undefined,
  kept: ReadonlySet<string>,
  declarations: readonly Declaration[],
  options: NftOptions,
): Promise<Map<string, string | undefined>> {
  const contents = new Map<string, string | undefined>();
  for (const set of before?.sets ?? []) {
    const wanted = declarations.find(({ kind, name }) => isSet(kind) && name === set.name);
    if (wanted === undefined || kept.has(set.name)) continue;
    const listing = await listSet(set, options);
    if (sameTypes(listing, wanted)) contents.set(set.name, elementsIn(listing));
  }
  return contents;
}

async function listSet({ family, table, name, map }: SetDeclaration, options: NftOptions): Promise<string> {
  return await runNft(['list', map ? 'map' : 'set', family, table, name], '', options);
}

/** Elements are carried over only into a set of the same types. `typeof` counts as text, like `type`. */
function sameTypes(listing: string, wanted: Declaration): boolean {
  const [table] = parseBody(listing);
  const inner = table?.text.slice(table.text.indexOf('{') + 1, table.text.lastIndexOf('}')) ?? '';
  const [listed] = parseBody(inner);
  return listed !== undefined && listed.types === wanted.types;
}

const isSet = (kind: string): boolean => kind === 'set' || kind === 'map';

/** NFT_OBJECT_*, as nft calls them. */
const objectKinds = new Map([
  [1, 'counter'],
  [2, 'quota'],
  [3, 'ct helper'],
  [4, 'limit'],
  [7, 'ct timeout'],
  [8, 'secmark'],
  [9, 'ct expectation'],
  [10, 'synproxy'],
]);

/** Rules go first: they hold on to chains, sets and objects. Sets go before chains, which their elements jump to. */
function writeScript(
  { family, name, body }: TableDeclaration,
  declarations: readonly Declaration[],
  before: Structure | undefined,
  kept: ReadonlySet<string>,
  contents: ReadonlyMap<string, string | undefined>,
): string {
  const table = `${family} ${name}`;
  return [
    ...(before === undefined ? [] : [`flush table ${table}`, ...removals(table, declarations, before, kept)]),
    `table ${table} {`,
    body,
    '}',
    `add set ${table} ${SEAL_SET} { type mark; }`,
    ...[...contents].flatMap(([set, elements]) =>
      elements === undefined ? [] : [`add element ${table} ${set} { ${elements} }`],
    ),
    '',
  ].join('\n');
}

function removals(
  table: string,
  declarations: readonly Declaration[],
  { chains, sets, objects }: Structure,
  kept: ReadonlySet<string>,
): string[] {
  const find = (kind: string, name: string) =>
    declarations.find((one) => one.kind === kind && one.name === name);
  return [
    ...sets
      .filter((set) => !kept.has(set.name))
      .map((set) => `delete ${set.map ? 'map' : 'set'} ${table} ${set.name}`),
    ...chains
      .filter(({ name, hook }) => hook !== undefined || !isRegular(find('chain', name)))
      .map((chain) => `delete chain ${table} ${chain.name}`),
    ...objects.flatMap(({ name, type }) => {
      const kind = objectKinds.get(type);
      return kind === undefined || find(kind, name) !== undefined ? [] : [`delete ${kind} ${table} ${name}`];
    }),
  ];
}

/**
 * Only these stay: a hook cannot be given to a chain, taken from it or changed. Base chains are all made anew, which
 * nothing can mind since nothing can refer to them.
 */
function isRegular(declaration: Declaration | undefined): boolean {
  return declaration !== undefined && !/^chain \S+ \{ type \S+ hook /.test(declaration.text);
}
