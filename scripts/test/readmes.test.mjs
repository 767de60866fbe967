/**
 * Examples of READMEs. Those that need no system are executed, and what they say of their results is compared. Of the
 * others each function that they call must exist. Packages with a test of their own README are left out.
 */
import fs from 'node:fs';
import path from 'node:path';
import util from 'node:util';
import { describe, expect, it } from 'vitest';
import { listEntries } from './entries.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const readManifest = (folder) => JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
const workspaces = readManifest('.').workspaces;
const folderOf = new Map(workspaces.map((folder) => [readManifest(folder).name, folder]));

/** Names that an example takes as given. */
const executed = {
  '@podwire/apimachinery': {},
  '@podwire/ipam': {},
  '@podwire/tracing': { send: () => undefined },
};
const testedByPackage = new Set([
  '@podwire/policy-evaluator',
  '@podwire/engine',
  '@podwire/backend-linux',
  '@podwire/backend-ovsdb',
  '@podwire/backend-openflow',
  '@podwire/ovsdb',
  '@podwire/openshift-cni',
  '@podwire/kube-ovn-cni',
  '@podwire/unixctl',
  '@podwire/store',
  // test/libraries compiles and runs these.
  '@podwire/addresses',
  '@podwire/cni',
  '@podwire/cri',
  '@podwire/errors',
  '@podwire/linux',
  '@podwire/netlink',
  '@podwire/nftables',
  '@podwire/openflow',
]);

const examplesOf = (folder) => {
  const file = path.join(root, folder, 'README.md');
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  return [...text.matchAll(/^```(?:ts|js)[^\n]*\n([^]*?)^```$/gm)].map(([, code]) => code);
};

const entries = listEntries(root);

/** The exports of an entry (`@podwire/x` or `@podwire/x/testing`), from the sources as in vitest.config.js. */
const load = (entry) =>
  import(/* @vite-ignore */ entries.find(({ specifier }) => specifier === entry).source);

const entriesOf = (name) =>
  entries
    .map(({ specifier }) => specifier)
    .filter((specifier) => specifier === name || specifier.startsWith(`${name}/`));

const importPattern = /^import \{([^}]*)\} from '([^']+)';$/gm;

async function importsOf(code) {
  const scope = {};
  for (const [, names, from] of code.matchAll(importPattern)) {
    const module = await load(from);
    for (const name of names.split(',').map((each) => each.trim())) {
      expect(module[name], `${name} of ${from}`).toBeDefined();
      scope[name] = module[name];
    }
  }
  return scope;
}

const squeeze = (text) => text.replaceAll(/\s/g, '');

/** A result as an example writes it behind `//`: whole, or in parts with `…` between; words are no result. */
function compare(getResult, comment) {
  if (/^[A-Z]\w*Error: /.test(comment)) {
    const parts = comment.replace(/^\w+:/, '').split('…');
    for (const part of parts) if (part.trim() !== '') expect(getResult).toThrow(part.trim());
    return;
  }
  const result = getResult();
  if (!/^(\[|\{|\d|true|false)/.test(comment)) return;
  const shown =
    typeof result === 'string' ? result : util.inspect(result, { depth: 5, breakLength: Infinity });
  if (!comment.includes('…') || comment.startsWith('[]'))
    return expect(comment.startsWith(shown), `${shown}, not ${comment}`).toBe(true);
  for (const part of comment.split('…')) expect(squeeze(shown)).toContain(squeeze(part).replace(/,$/, ''));
}

/** Turns `expression; // result` into a comparison. */
const withComparisons = (code) =>
  code
    .replaceAll(importPattern, '')
    .replaceAll(
      /^(?!const |await |let |import )(\S.*); \/\/ (.+)$/gm,
      (_all, expression, comment) => `compare(() => (${expression}), ${JSON.stringify(comment)});`,
    );

const AsyncFunction = (async () => undefined).constructor;

describe.each(Object.entries(executed))('the README of %s', (name, given) => {
  it('shows an example that does what it says', async () => {
    const examples = examplesOf(folderOf.get(name));
    expect(examples.length).toBeGreaterThan(0);
    for (const code of examples) {
      const scope = { ...given, ...(await importsOf(code)), compare };
      await new AsyncFunction(...Object.keys(scope), withComparisons(code))(...Object.values(scope));
    }
  });
});

const others = [...folderOf].filter(
  ([name, folder]) => !(name in executed) && !testedByPackage.has(name) && examplesOf(folder).length > 0,
);

const keywords = /^(if|for|while|switch|catch|async|function|return|await|import)$/;

/** Names that a piece of code declares: constants, functions, methods of objects, and parameters. */
const declaredIn = (code) => [
  ...[...code.matchAll(/(?:const|let|function|async) (\w+)/g)].map(([, name]) => name),
  ...[...code.matchAll(/^ *(\w+)\([\w, ]*\) \{/gm)].map(([, name]) => name),
  ...[...code.matchAll(/\(([\w, ]+)\) (?:=>|\{)/g)].flatMap(([, names]) => names.split(', ')),
];

/** The functions that a piece of code calls by their bare name, without those that it declares. */
function callsOf(code) {
  const bare = code.replaceAll(/\/\/.*$/gm, '').replaceAll(/'[^']*'|`[^`]*`/g, "''");
  const own = declaredIn(bare);
  return [...bare.matchAll(/(?<![.\w#])([A-Za-z]\w+)\(/g)]
    .map(([, name]) => name)
    .filter((name) => !own.includes(name) && !(name in globalThis) && !keywords.test(name));
}

describe.each(others)('the README of %s', (name, folder) => {
  it('calls functions that exist', async () => {
    const needed = Object.keys(readManifest(folder).dependencies ?? {}).filter((other) =>
      folderOf.has(other),
    );
    const modules = await Promise.all([name, ...needed].flatMap(entriesOf).map(load));
    const known = new Set(modules.flatMap((module) => Object.keys(module)));
    const missing = examplesOf(folder)
      .flatMap(callsOf)
      .filter((each) => !known.has(each));
    expect(missing).toEqual([]);
  });
});
