/** The few requests of roff, man(7), that a page of a command needs. */

/** Text as roff prints it: nothing in it is a request or an escape. */
export function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', String.raw`\(rs`)
    .replaceAll(/^([.'])/gm, String.raw`\&$1`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll("'", String.raw`\(aq`);
}

/** As {@link escapeRoff}, with hyphens that can be copied into a shell. */
export function escapeCode(text: string): string {
  return escapeRoff(text).replaceAll('-', String.raw`\-`);
}

export const bold = (text: string): string => String.raw`\fB${escapeCode(text)}\fR`;
const italic = (text: string): string => String.raw`\fI${escapeCode(text)}\fR`;

/** Words of help: what stands in backticks is bold. */
export function prose(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (/^`[^`]+`$/.test(part) ? bold(part.slice(1, -1)) : escapeRoff(part)))
    .join('');
}

/** A usage line or the flags of an option: what is to be typed is bold, what stands for something italic. */
export function syntax(text: string): string {
  return text
    .split(/(<[^>]+>|\[[^\]]*\]|[\s,|]+)/)
    .filter((part) => part !== '')
    .map((part) => {
      if (/^[<[]/.test(part)) return italic(part);
      return /^[\s,|]+$/.test(part) ? part : bold(part);
    })
    .join('');
}

export const heading = (title: string): readonly string[] => [`.SH ${title.toUpperCase()}`];
export const subheading = (title: string): readonly string[] => [`.SS ${escapeCode(title)}`];
export const paragraph = (text: string): readonly string[] => ['.PP', prose(text)];

/** A term with its description below it. */
export const definition = (term: string, text: string): readonly string[] => ['.TP', term, prose(text)];

/** Lines as they are. */
export const verbatim = (lines: readonly string[]): readonly string[] => [
  '.PP',
  '.RS 4',
  '.nf',
  ...lines.map(escapeCode),
  '.fi',
  '.RE',
];
