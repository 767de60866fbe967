/**
 * Words of a private language that Podwire had once. Each has a term that engineers of Kubernetes and Linux know, so
 * none comes back: not in names, comments, messages, test titles or docs.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** A pattern over words in lower case, and what the field says. */
const replacements = [
  ['wish(es|ed)?', 'request, options, requested'],
  ['doom(s|ed)?', 'mark for deletion'],
  ['bury|buries|buried|graves?', 'delete later, tombstone'],
  ['mend(s|ed|ing)?', 'repair'],
  ['survey(s|ed)?', 'dump, observed state'],
  ['holdings', 'block affinities'],
  ['strays?', 'orphan, unknown'],
  ['unwilling', 'in back-off'],
  ['shelf|shelves', 'cache, informer'],
  ['sights?', 'observation'],
  ['judge[sd]?|judg(e?ment|ing)', 'evaluate, decide, check'],
  ['doubt(s|ed|ful)?', 'warning, uncertain'],
  ['remark(s|ed)?', 'warning, note'],
  ['remedy|remedies', 'fix'],
  ['cadence', 'interval'],
  ['keeps? house|keeping house', 'clean up'],
  ['last words', 'termination message'],
  ['hand(s|ed|ing)? over', 'send, pass'],
  ['dismantle[sd]?|dismantling', 'tear down'],
  ['disown(s|ed)?', 'release'],
  ['who(m|so)?ever', 'the name of who it is: the caller, the client, the node'],
  [
    '(some|any|every)body|someone|everyone|nobody',
    'the name of who it is: the caller, no process, each node',
  ],
  ['rim', 'platform'],
  ['scenes?', 'fixture, state'],
  ['contenders?', 'baseline'],
  ['slow path', 'what it does'],
  ['ledgers?', 'allocation record'],
  ['books?', 'allocation state'],
  ['errands?', 'call, request'],
  ['surroundings', 'environment'],
  ['vacant', 'unused'],
];
const pattern = new RegExp(`\\b(?:${replacements.map(([word]) => word).join('|')})\\b`, 'g');

/** Where a word has its plain sense, or is somebody else's name. */
const allowed = [
  // The user `nobody` of Unix.
  [/./, /^nobody$/, /65534|'nobody'|`nobody`|USER_NOBODY|user nobody|nobody:|\/nonexistent/],
  // Names that people and other versions use: JSON fields, the file of a node's blocks, keys of the store.
  [/./, /^holdings$/, /holdings\.json|['"`.{ ]holdings\b/],
  [/./, /^ledgers?$/, /ledgers\/|kind\('ledger'|`ledger`|\[20\]/],
  [
    /^packages\/(calico-import|cli|cluster-ipam)\//,
    /^ledgers?$/,
    /'ledger'|ledger of (\$\{|n\d |node one )|:ledger:|ledgers: alloc/,
  ],
  [/^docs\/output\.md/, /^(mend|mended|vacant)$/],
  [/^packages\/cli\/(src|test)\/cluster\/ipam/, /^mend(ed)?$/, /\bmend(ed)?: |`mend`/],
  // A probe to an unused address, in the JSON of `podwire connectivity test`.
  [/^packages\/(cli|testbed)\//, /^vacant$/, /['`]vacant['`]|vacant: [[t]/],
];

/** Names of the field: the history of decisions and of changes, the list itself, generated code. */
const unread =
  /^(CHANGELOG\.md|docs\/(glossary|words)|docs\/decisions\/|scripts\/test\/words)|\/generated\/|package-lock/;
const read = /\.(ts|mjs|js|c|h|md|ya?ml)$/;

/** `keepHouse`, `keep_house` and `keep-house` are two words each. */
const split = (line) =>
  line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]/g, ' ')
    .toLowerCase();

const isAllowed = (file, word, line) =>
  allowed.some(
    ([files, words, lines]) => files.test(file) && words.test(word) && (lines?.test(line) ?? true),
  );

const wordsOf = (file, line) =>
  [...split(line).matchAll(pattern)].map(([word]) => word).filter((word) => !isAllowed(file, word, line));

/** The old words of a file: its path and its text. Exported for the test. */
export function findOldWords(file, text) {
  const inPath = wordsOf(file, file).map((word) => ({ word, place: file }));
  const inText = text
    .split('\n')
    .flatMap((line, at) => wordsOf(file, line).map((word) => ({ word, place: `${file}:${at + 1}` })));
  return [...inPath, ...inText];
}

const termOf = (word) => replacements.find(([pattern]) => new RegExp(`^(${pattern})$`).test(word))[1];

/** Faults, in words; empty when all is well. */
export function findWordFaults(root) {
  const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return tracked
    .split('\n')
    .filter((file) => read.test(file) && !unread.test(file) && fs.existsSync(path.join(root, file)))
    .flatMap((file) => findOldWords(file, fs.readFileSync(path.join(root, file), 'utf8')))
    .map(({ word, place }) => `${place}: "${word}" is no word of the field; perhaps: ${termOf(word)}`);
}
