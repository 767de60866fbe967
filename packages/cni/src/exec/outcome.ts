import { CniError, type CniErrorOptions, errorCodes } from '../error.js';
import type { Command } from '../request.js';
import type { PluginExit } from './exec.js';

/** A plugin that was started and did not succeed. `code` and `details` are the plugin's own where it gave them. */
export class PluginError extends CniError {
  /** The plugin's type. */
  readonly plugin: string;
  readonly command: Command;
  readonly exitCode: number | null;
  /** Name of the signal that ended it, as `SIGKILL`. */
  readonly exitSignal: string | null;
  readonly stderr: string;
  /** The plugin's own words, without the prefix that `message` has. */
  readonly pluginMessage: string;

  constructor(
    source: PluginCallName,
    exit: PluginExit,
    code: number,
    said: string,
    options: CniErrorOptions = {},
  ) {
    // STATUS is handed on as the plugin said it: its caller acts on code and text (section 2, STATUS).
    super(
      code,
      source.command === 'STATUS' ? said : `plugin ${source.plugin} failed to ${source.command}: ${said}`,
      options,
    );
    this.name = 'PluginError';
    this.plugin = source.plugin;
    this.command = source.command;
    this.exitCode = exit.code;
    this.exitSignal = exit.signal;
    this.stderr = exit.stderr;
    this.pluginMessage = said;
  }
}

export interface PluginCallName {
  readonly plugin: string;
  readonly command: Command;
}

/**
 * Makes an error of an exit that is no success (specification, section 2, "Errors"): the error object on standard
 * output; else, whatever there is: what it printed, standard error, the exit status or the signal.
 * Standard error goes into the details as well when the plugin gave none.
 */
export function pluginFailure(source: PluginCallName, exit: PluginExit): PluginError | undefined {
  if (exit.code === 0) return undefined;
  const said = CniError.fromJSON(parsed(exit.stdout));
  if (said === undefined)
    return new PluginError(source, exit, errorCodes.internal, describeSilence(exit), noted(exit));
  const details = said.details ?? noted(exit).details;
  return new PluginError(source, exit, said.code, said.message, { details, cniVersion: said.cniVersion });
}

/** A plugin that exited with 0 but printed what cannot be used. */
export function pluginMisbehaviour(
  source: PluginCallName,
  exit: PluginExit,
  problem: string,
  cause?: unknown,
): PluginError {
  return new PluginError(source, exit, errorCodes.decodingFailure, problem, { ...noted(exit), cause });
}

/** A plugin that was ended because its deadline passed or the caller gave up. */
export function pluginEnded(source: PluginCallName, exit: PluginExit, reason: unknown): PluginError {
  const why = reason instanceof Error ? reason.message : String(reason);
  return new PluginError(source, exit, errorCodes.tryAgainLater, `it was ended, since ${why}`, {
    ...noted(exit),
    cause: reason,
  });
}

function noted({ stderr }: PluginExit): { details: string | undefined } {
  return { details: stderr.trim() === '' ? undefined : `standard error: ${stderr.trim()}` };
}

function describeSilence({ code, signal, stdout, stderr }: PluginExit): string {
  const end = signal === null ? `exit status ${code}` : `killed by ${signal}`;
  if (stdout.trim() !== '')
    return `${end}, and what it printed is no error object: ${JSON.stringify(shorten(stdout))}`;
  if (stderr.trim() !== '') return `${end}: ${shorten(stderr.trim())}`;
  return `${end}, no error message`;
}

function shorten(text: string): string {
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
