/** Completion scripts. They ask the program for names of what there is, and know everything else by themselves. */
import type { NameKind } from './complete.js';
import type { CommandWords, OptionWords } from './words.js';

export const completionScripts: Readonly<
  Record<'bash' | 'zsh' | 'fish', (commands: readonly CommandWords[]) => string>
> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

/** Quoted for a POSIX shell, zsh and fish alike (fish knows `\'` inside single quotes, so none is left there). */
const quote = (text: string): string => `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`;

const flagsOf = ({ short, long }: OptionWords): string[] => (short === undefined ? [long] : [short, long]);

const header = (shell: string): string =>
  `# ${shell} completion for podwire. Written by: podwire completion ${shell}\n`;

function renderBash(commands: readonly CommandWords[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== '');
  return `${header('bash')}_podwire() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path='' word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case "\${path:+$path }$word" in
      ${paths.map((path) => JSON.stringify(path)).join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path:$before" in
${commands.flatMap(bashValues).join('\n')}
  esac
  case "$path" in
${commands.map(bashWords).join('\n')}
  esac
}
complete -F _podwire podwire
`;
}

function bashValues({ path, options }: CommandWords): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map((option) => {
      const pattern = flagsOf(option)
        .map((flag) => quote(`${path}:${flag}`))
        .join('|');
      return `    ${pattern}) ${bashReply(option.value)} return ;;`;
    });
}

function bashReply(value: OptionWords['value']): string {
  if (value === 'file') return 'COMPREPLY=($(compgen -f -- "$current"));';
  if (typeof value === 'string') return '';
  if ('names' in value) return `COMPREPLY=($(compgen -W "${bashNames(value.names)}" -- "$current"));`;
  return `COMPREPLY=($(compgen -W ${quote(value.join(' '))} -- "$current"));`;
}

function bashWords({ path, options, words, argument }: CommandWords): string {
  const flags = options.flatMap(flagsOf).join(' ');
  const fixed = words.map(({ word }) => word).join(' ');
  const names = kindsOf(argument).map((kind) => ` ${bashNames(kind)}`);
  const targets = argument.includes('target') ? ' $(podwire pods -o name 2>/dev/null)' : '';
  const pods = [targets, ...names].join('');
  const files = argument.includes('file') ? ' COMPREPLY+=($(compgen -f -- "$current"));' : '';
  return `    ${quote(path)})
      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W ${quote(flags)} -- "$current"))
      else COMPREPLY=($(compgen -W "${fixed}${pods}" -- "$current"));${files} fi ;;`;
}

/** The words in front of the cursor say which pod's containers, and where the agent is. */
const bashNames = (kind: NameKind): string =>
  `$(podwire __complete ${kind} "$current" "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)`;

function kindsOf(argument: CommandWords['argument']): NameKind[] {
  return argument.filter((kind) => kind !== 'file' && kind !== 'target');
}

function renderZsh(commands: readonly CommandWords[]): string {
  return `#compdef podwire
${header('zsh')}_podwire() {
  local path='' word
  local -a reply
  integer index
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    case "\${path:+$path }$word" in
      ${commands
        .map(({ path }) => quote(path))
        .filter((path) => path !== "''")
        .join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path:$words[CURRENT-1]" in
${commands.flatMap(zshValues).join('\n')}
  esac
  case "$path" in
${commands.map(zshWords).join('\n')}
  esac
}
if [[ $funcstack[1] == _podwire ]]; then _podwire "$@"; else compdef _podwire podwire; fi
`;
}

function zshValues({ path, options }: CommandWords): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map((option) => {
      const pattern = flagsOf(option)
        .map((flag) => quote(`${path}:${flag}`))
        .join('|');
      return `    ${pattern}) ${zshReply(option.value)}return ;;`;
    });
}

function zshReply(value: OptionWords['value']): string {
  if (value === 'file') return '_files; ';
  if (typeof value === 'string') return '';
  return 'names' in value ? `${zshNames(value.names)}; ` : `compadd -- ${value.map(quote).join(' ')}; `;
}

function zshWords({ path, options, words, argument }: CommandWords): string {
  const flags = options.map(({ short, long, description }) =>
    [short, long].flatMap((flag) => (flag === undefined ? [] : [quote(`${flag}:${zshText(description)}`)])),
  );
  const fixed = words.map(({ word, summary }) => quote(`${word}:${zshText(summary)}`));
  const targets = argument.includes('target')
    ? '\n      compadd -- ${(f)"$(podwire pods -o name 2>/dev/null)"}'
    : '';
  const pods = [targets, ...kindsOf(argument).map((kind) => `\n      ${zshNames(kind)}`)].join('');
  const files = argument.includes('file') ? '\n      _files' : '';
  return `    ${quote(path)})
      if [[ $words[CURRENT] == -* ]]; then
        reply=(${flags.flat().join(' ')}); _describe option reply; return
      fi
      reply=(${fixed.join(' ')}); (( $#reply )) && _describe word reply${pods}${files} ;;`;
}

const zshNames = (kind: NameKind): string =>
  `compadd -- \${(f)"$(podwire __complete ${kind} "$words[CURRENT]" "\${(@)words[2,CURRENT-1]}" 2>/dev/null)"}`;

/** A colon separates word and description. */
const zshText = (text: string): string => text.replaceAll(':', ' -');

function renderFish(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap((command) => [...fishWords(command), ...fishOptions(command)]);
  return `${header('fish')}function __podwire_path
  set -l path
  set -l paths ${commands
    .map(({ path }) => quote(path))
    .filter((path) => path !== "''")
    .join(' ')}
  for word in (commandline -opc)[2..-1]
    set -l longer (string join ' ' $path $word)
    contains -- $longer $paths; and set path $longer
  end
  echo "$path"
end
function __podwire_at
  test (__podwire_path) = "$argv[1]"
end
function __podwire_names
  set -l current (commandline -ct)
  podwire __complete $argv[1] "$current" (commandline -opc)[2..-1] 2>/dev/null
end
complete -c podwire -f
${lines.join('\n')}
`;
}

const fishAt = (path: string): string => `complete -c podwire -n ${quote(`__podwire_at "${path}"`)}`;

function fishWords({ path, words, argument }: CommandWords): string[] {
  const fixed = words.map(({ word, summary }) => {
    const description = summary === '' ? '' : ` -d ${quote(summary)}`;
    return `${fishAt(path)} -a ${quote(word)}${description}`;
  });
  if (argument.includes('target')) fixed.push(`${fishAt(path)} -a '(podwire pods -o name 2>/dev/null)'`);
  for (const kind of kindsOf(argument)) fixed.push(`${fishAt(path)} -a '(__podwire_names ${kind})'`);
  if (argument.includes('file')) fixed.push(`${fishAt(path)} -F`);
  return fixed;
}

function fishOptions({ path, options }: CommandWords): string[] {
  return options.map(({ short, long, description, value }) => {
    const letter = short === undefined ? '' : ` -s ${short.slice(1)}`;
    return `${fishAt(path)}${letter} -l ${long.slice(2)}${fishValue(value)} -d ${quote(description)}`;
  });
}

function fishValue(value: OptionWords['value']): string {
  if (value === 'none') return '';
  if (value === 'file') return ' -r -F';
  if (typeof value === 'string') return ' -x';
  return 'names' in value ? ` -x -a '(__podwire_names ${value.names})'` : ` -x -a ${quote(value.join(' '))}`;
}
