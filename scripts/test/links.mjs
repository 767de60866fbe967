/** Links between pages lead to a file that exists and, with `#`, to one of its headings. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const withoutCode = (text) => text.replace(/^( *)```[^]*?^\1```$/gm, '').replace(/`[^`\n]*`/g, 'code');

/** The anchor that GitHub gives to a heading. */
const slugOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const anchorsOf = (text) =>
  new Set(
    [...text.replace(/^( *)```[^]*?^\1```$/gm, '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      slugOf(heading),
    ),
  );

const linksOf = (text) =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target)
    .filter((target) => !/^[a-z]+:/.test(target));

function linkFault(root, page, target) {
  const [place, anchor] = target.split('#');
  const file = place === '' ? page : path.join(path.dirname(page), place);
  const full = path.join(root, file);
  if (!fs.existsSync(full)) return [`${page}: ${target} does not exist`];
  if (anchor === undefined || !file.endsWith('.md')) return [];
  const anchors = anchorsOf(fs.readFileSync(full, 'utf8'));
  return anchors.has(anchor) ? [] : [`${page}: ${file} has no heading #${anchor}`];
}

/** Faults, in words; empty when all is well. */
export function findLinkFaults(root) {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((page) => page !== '' && fs.existsSync(path.join(root, page)))
    .flatMap((page) =>
      linksOf(fs.readFileSync(path.join(root, page), 'utf8')).flatMap((target) =>
        linkFault(root, page, target),
      ),
    );
}
