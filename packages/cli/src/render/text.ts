/** Text as a terminal sees it: its width in cells, and shorter forms of it. Codes of colours have no width. */
// eslint-disable-next-line no-control-regex
const colorCode = /\u001b\[[\d;]*m/g;
/** From the first character to the last, without the codes in front and behind. */
// eslint-disable-next-line no-control-regex
const painted = /^(?<before>(?:\u001b\[[\d;]*m)*)(?<body>.*?)(?<after>(?:\u001b\[[\d;]*m)*)$/s;
// eslint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6])/u;

/** Characters as a reader sees them. */
function charactersOf(text: string): string[] {
  if (isAscii(text)) return text.split('');
  return Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment);
}

const cellsOf = (character: string): number => (wide.test(character) ? 2 : 1);

export function measureText(text: string): number {
  const plain = text.replaceAll(colorCode, '');
  if (isAscii(plain)) return plain.length;
  return charactersOf(plain).reduce((sum, character) => sum + cellsOf(character), 0);
}

/**
 * Where text loses characters: behind, in the middle (addresses and ids, which differ at both ends), or as a list of words,
 * of which the first ones stay and the others are counted: `10.0.0.7 +1`.
 */
export type Cut = 'end' | 'middle' | 'list';

/** A sentence on as many lines as it takes, those after the first indented; a word is never cut. */
export function wrapText(text: string, width: number, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S)(?= )/)) {
    if (line !== '' && measureText(line + word) > width) {
      lines.push(line);
      line = ' '.repeat(indent) + word.trimStart();
    } else line += word;
  }
  return [...lines, line];
}

/** At most `width` cells. Colours around the whole text stay, those within it go. */
export function shortenText(text: string, width: number, cut: Cut): string {
  if (measureText(text) <= width) return text;
  const { before = '', body = '', after = '' } = painted.exec(text)?.groups ?? {};
  const plain = body.replaceAll(colorCode, '');
  return before + shorteners[cut](plain, Math.max(1, width)) + after;
}

const shorteners: Readonly<Record<Cut, (text: string, width: number) => string>> = {
  end: (text, width) => `${withoutHalfNumber(takeCells(text, width - 1), text).trimEnd()}…`,
  middle: (text, width) => {
    const tail = Math.floor((width - 1) / 2);
    return `${takeCells(text, width - 1 - tail)}…${takeLastCells(text, tail)}`;
  },
  list: (text, width) => {
    const words = text.split(' ');
    for (let kept = words.length - 1; kept > 0; kept--) {
      const shorter = `${words.slice(0, kept).join(' ')} +${words.length - kept}`;
      if (measureText(shorter) <= width) return shorter;
    }
    const rest = words.length > 1 ? ` +${words.length - 1}` : '';
    const room = width - rest.length;
    return room < 6 ? shorteners.middle(text, width) : shorteners.middle(words[0]!, room) + rest;
  },
};

function takeCells(text: string, width: number): string {
  let taken = '';
  let cells = 0;
  for (const character of charactersOf(text)) {
    cells += cellsOf(character);
    if (cells > width) break;
    taken += character;
  }
  return taken;
}

function takeLastCells(text: string, width: number): string {
  let taken = '';
  let cells = 0;
  for (const character of charactersOf(text).reverse()) {
    cells += cellsOf(character);
    if (cells > width) break;
    taken = character + taken;
  }
  return taken;
}

/** `655…` of 65536 would be read as another number. */
function withoutHalfNumber(beginning: string, whole: string): string {
  const isWithin = /\d$/.test(beginning) && /^[\d.]*\d/.test(whole.slice(beginning.length));
  return isWithin ? beginning.replace(/[\d.]+$/, '') : beginning;
}
