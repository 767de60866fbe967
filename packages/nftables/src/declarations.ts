/** One named block of a table's body: a chain, set, map or stateful object. */
export interface Declaration {
  /** The words before the name: `chain`, `map`, `ct helper`. */
  readonly kind: string;
  readonly name: string;
  /** The block without comments and with single blanks: equal for bodies that differ in layout only. */
  readonly text: string;
  /** Of sets and maps: the `type …` or `typeof …` in it. */
  readonly types: string | undefined;
}

const TOKEN = /"[^"\n]*"|#[^\n]*|\\\n|[{};\n]|[^\s{};"#\\]+|[^\s]/g;

function tokensOf(text: string): string[] {
  const tokens = text.match(TOKEN) ?? [];
  // A line's end and a semicolon are the same to nft, and doubling them means nothing.
  return tokens
    .filter((token) => !token.startsWith('#') && token !== '\\\n')
    .map((token) => (token === '\n' ? ';' : token))
    .filter((token, at, all) => token !== ';' || !(at === 0 || all[at - 1] === ';' || all[at - 1] === '{'))
    .filter((token, at, all) => token !== ';' || all[at + 1] !== '}');
}

/**
 * The named blocks that stand directly in a table's body. Statements without a block (`comment "…"`, `flags …`) are
 * left out.
 * @throws RangeError when the braces do not match: such a body would end the table's own block.
 */
export function parseBody(body: string): Declaration[] {
  const declarations: Declaration[] = [];
  let depth = 0;
  let statement: string[] = [];
  for (const token of tokensOf(body)) {
    if (token === ';' && depth === 0) {
      statement = [];
      continue;
    }
    statement.push(token);
    if (token === '{') depth++;
    if (token === '}' && --depth < 0) throw new RangeError('the body of a table has a } too many');
    if (token !== '}' || depth > 0) continue;
    declarations.push(declarationOf(statement));
    statement = [];
  }
  if (depth > 0) throw new RangeError('the body of a table has a { too many');
  return declarations;
}

function declarationOf(statement: readonly string[]): Declaration {
  const head = statement.slice(0, statement.indexOf('{'));
  const block = statement.slice(head.length + 1, -1);
  return {
    kind: head.slice(0, -1).join(' '),
    name: head.at(-1) ?? '',
    text: statement.join(' '),
    types: typesIn(block),
  };
}

function typesIn(block: readonly string[]): string | undefined {
  const starts = (at: number) => at === 0 || block[at - 1] === ';';
  const start = block.findIndex((word, at) => (word === 'type' || word === 'typeof') && starts(at));
  if (start < 0) return undefined;
  const end = block.indexOf(';', start);
  const words = block.slice(start, end < 0 ? undefined : end);
  return words.join(' ').replace(/\s*:\s*/g, ' : ');
}

/** Text in `elements = { … }` of a listed set; `undefined` for an empty one. */
export function elementsIn(listing: string): string | undefined {
  const tokens = tokensOf(listing);
  const start = tokens.findIndex((token, at) => token === 'elements' && tokens[at + 1] === '=');
  if (start < 0) return undefined;
  let depth = 0;
  const end = tokens.findIndex((token, at) => {
    if (at < start) return false;
    if (token === '{') depth++;
    return token === '}' && --depth === 0;
  });
  return tokens
    .slice(start + 3, end)
    .filter((token) => token !== ';')
    .join(' ');
}

/** Checks a name that nft takes without quotes; everything that goes into a script by name is checked so. */
export function checkName(name: string): string {
  if (!/^[A-Za-z_][\w./-]{0,254}$/.test(name))
    throw new RangeError(`not a name for nftables: ${JSON.stringify(name)}`);
  return name;
}
