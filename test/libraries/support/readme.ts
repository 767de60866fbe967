import fs from 'node:fs';
import path from 'node:path';

/** A fenced block of a README: language, what else stands on the fence, content. */
export interface Block {
  readonly language: string;
  readonly title: string;
  readonly content: string;
}

export function readBlocks(folder: string): readonly Block[] {
  const readme = fs.readFileSync(path.join(folder, 'README.md'), 'utf8');
  return [...readme.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)].map(
    ([, language = '', title = '', content = '']) => ({ language, title, content }),
  );
}

/** Output that an example promises: the `text` block behind it, or the comments behind its console.log. */
export function promiseOf(block: Block, next: Block | undefined): readonly string[] {
  if (next?.language === 'text') return next.content.trimEnd().split('\n');
  const printed = block.content.matchAll(/console\.log\(.*\);(?: \/\/ |\n\s*\/\/ )(.*)/g);
  return [...printed].map(([, output = '']) => output);
}
